import { addingMutants } from './adding-mutants.ts'
import { clockMutants } from './clock-mutants.ts'
import { companyMutants, processMutants } from './company-mutants.ts'
import { failureMutants } from './failure-mutants.ts'
import { finishMutants } from './finish-mutants.ts'
import { leaseMutants } from './lease-mutants.ts'
import { lifeMutants } from './life-mutants.ts'
import { lookMutants } from './look-mutants.ts'
import type { Mutant } from './mutant.ts'
import { namesMutants } from './names-mutants.ts'
import { operateMutants } from './operate-mutants.ts'
import { orderMutants } from './order-mutants.ts'
import { parkingMutants } from './parking-mutants.ts'
import { planMutants } from './plan-mutants.ts'
import { raceMutants } from './race-mutants.ts'
import { sizeMutants } from './size-mutants.ts'
import { theEleven } from './the-eleven.ts'
import { transactMutants } from './transact-mutants.ts'
import { transferMutants } from './transfer-mutants.ts'
import { verbMutants } from './verb-mutants.ts'

/** Every mutant. */
export const allMutants: readonly Mutant[] = [
  ...theEleven,
  ...addingMutants,
  ...orderMutants,
  ...finishMutants,
  ...leaseMutants,
  ...failureMutants,
  ...parkingMutants,
  ...planMutants,
  ...verbMutants,
  ...lifeMutants,
  ...lookMutants,
  ...operateMutants,
  ...clockMutants,
  ...transactMutants,
  ...transferMutants,
  ...sizeMutants,
  ...namesMutants,
  ...companyMutants,
  ...processMutants,
  ...raceMutants,
]
