import { boundaryMutants } from './boundary-mutants.ts'
import { concurrentMutants } from './concurrent/concurrent-mutants.ts'
import { processMutants } from './concurrent/process-mutants.ts'
import { raceMutants } from './concurrent/race-mutants.ts'
import { addingMutants } from './keys/adding-mutants.ts'
import { failureMutants } from './keys/failure-mutants.ts'
import { finishMutants } from './keys/finish-mutants.ts'
import { operateMutants } from './keys/operate-mutants.ts'
import { parkingMutants } from './keys/parking-mutants.ts'
import { planMutants } from './keys/plan-mutants.ts'
import { traceMutants } from './keys/trace-mutants.ts'
import { verbMutants } from './keys/verb-mutants.ts'
import { leaseMutants } from './lease-mutants.ts'
import type { Mutant } from './mutant.ts'
import { orderMutants } from './order-mutants.ts'
import { sizeMutants } from './size-mutants.ts'
import { clockMutants } from './store/clock-mutants.ts'
import { countsAndListMutants } from './store/counts-and-list-mutants.ts'
import { historyMutants } from './store/history-mutants.ts'
import { lifecycleMutants } from './store/lifecycle-mutants.ts'
import { namesMutants } from './store/names-mutants.ts'
import { transactMutants } from './store/transact-mutants.ts'
import { transferMutants } from './store/transfer-mutants.ts'
import { theEleven } from './the-eleven.ts'

/** Every mutant. */
export const allMutants: readonly Mutant[] = [
  ...theEleven,
  ...addingMutants,
  ...orderMutants,
  ...finishMutants,
  ...traceMutants,
  ...leaseMutants,
  ...failureMutants,
  ...parkingMutants,
  ...planMutants,
  ...verbMutants,
  ...lifecycleMutants,
  ...countsAndListMutants,
  ...historyMutants,
  ...operateMutants,
  ...clockMutants,
  ...transactMutants,
  ...transferMutants,
  ...sizeMutants,
  ...namesMutants,
  ...boundaryMutants,
  ...concurrentMutants,
  ...processMutants,
  ...raceMutants,
]
