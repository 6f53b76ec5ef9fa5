import type { Case } from '../case.ts'
import { addCases } from './add.ts'
import { batchCases } from './batch.ts'
import { clockCases } from './clock.ts'
import { companyCases } from './company.ts'
import { crashCases } from './crash.ts'
import { delayCases } from './delay.ts'
import { fenceCases } from './fence.ts'
import { finishCases } from './finish.ts'
import { historyCases } from './histories.ts'
import { itemCases } from './items.ts'
import { latestCases } from './latest.ts'
import { leaseCases } from './lease.ts'
import { lifeCases } from './life.ts'
import { lookCases } from './look.ts'
import { modelCases } from './model.ts'
import { modelLargeCases } from './model-large.ts'
import { operateCases } from './operate.ts'
import { orderCases } from './order.ts'
import { parkedCases } from './parked.ts'
import { planCases } from './plan.ts'
import { powerCases } from './power.ts'
import { priorityCases } from './priority.ts'
import { processCases } from './processes.ts'
import { queueCases } from './queues.ts'
import { retryCases } from './retry.ts'
import { sizeCases } from './size.ts'
import { sizeGrowthCases } from './size-growth.ts'
import { sizeLimitCases } from './size-limits.ts'
import { subjectCases } from './subject.ts'
import { tableCases } from './table.ts'
import { tickCases } from './tick.ts'
import { transactCases } from './transact.ts'
import { transferCases } from './transfer.ts'
import { wholeCases } from './whole.ts'

/** Every case of the contract half, the easiest promises first. */
export const allCases: readonly Case[] = [
  ...subjectCases,
  ...addCases,
  ...finishCases,
  ...itemCases,
  ...orderCases,
  ...priorityCases,
  ...delayCases,
  ...latestCases,
  ...batchCases,
  ...leaseCases,
  ...fenceCases,
  ...retryCases,
  ...tableCases,
  ...crashCases,
  ...planCases,
  ...parkedCases,
  ...operateCases,
  ...queueCases,
  ...lookCases,
  ...tickCases,
  ...clockCases,
  ...lifeCases,
  ...transactCases,
  ...transferCases,
  ...sizeCases,
  ...sizeGrowthCases,
  ...sizeLimitCases,
  ...companyCases,
  ...wholeCases,
  ...processCases,
  ...powerCases,
  ...modelCases,
  ...modelLargeCases,
  ...historyCases,
]
