import type { Case } from '../case.ts'
import { concurrentCases } from './concurrent/concurrent.ts'
import { processCases } from './concurrent/processes.ts'
import { addCases } from './keys/add.ts'
import { batchCases } from './keys/batch.ts'
import { errorCases } from './keys/errors.ts'
import { finishCases } from './keys/finish.ts'
import { itemCases } from './keys/items.ts'
import { latestCases } from './keys/latest.ts'
import { operateCases } from './keys/operate.ts'
import { parkedCases } from './keys/parked.ts'
import { planCases } from './keys/plan.ts'
import { retryCases } from './keys/retry.ts'
import { tableCases } from './keys/table.ts'
import { traceCases } from './keys/trace.ts'
import { crashCases } from './leases/crash.ts'
import { fenceCases } from './leases/fence.ts'
import { leaseCases } from './leases/lease.ts'
import { delayCases } from './order/delay.ts'
import { orderCases } from './order/order.ts'
import { priorityCases } from './order/priority.ts'
import { historyCases } from './random/histories.ts'
import { modelCases } from './random/model.ts'
import { modelLargeCases } from './random/model-large.ts'
import { sizeCases } from './size/size.ts'
import { sizeGrowthCases } from './size/size-growth.ts'
import { sizeLimitCases } from './size/size-limits.ts'
import { atomicCases } from './store/atomic.ts'
import { clockCases } from './store/clock.ts'
import { countsAndListCases } from './store/counts-and-list.ts'
import { historyCasesOfQueues } from './store/history.ts'
import { lifecycleCases } from './store/lifecycle.ts'
import { pagingCases } from './store/paging.ts'
import { powerCases } from './store/power.ts'
import { queueCases } from './store/queues.ts'
import { tickCases } from './store/tick.ts'
import { transactCases } from './store/transact.ts'
import { transferCases } from './store/transfer.ts'
import { transferTokenCases } from './store/transfer-tokens.ts'
import { wakingCases } from './store/waking.ts'
import { subjectCases } from './subject.ts'

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
  ...traceCases,
  ...batchCases,
  ...leaseCases,
  ...fenceCases,
  ...retryCases,
  ...errorCases,
  ...tableCases,
  ...crashCases,
  ...planCases,
  ...parkedCases,
  ...operateCases,
  ...queueCases,
  ...countsAndListCases,
  ...pagingCases,
  ...tickCases,
  ...historyCasesOfQueues,
  ...clockCases,
  ...lifecycleCases,
  ...wakingCases,
  ...transactCases,
  ...transferCases,
  ...transferTokenCases,
  ...sizeCases,
  ...sizeGrowthCases,
  ...sizeLimitCases,
  ...concurrentCases,
  ...atomicCases,
  ...processCases,
  ...powerCases,
  ...modelCases,
  ...modelLargeCases,
  ...historyCases,
]
