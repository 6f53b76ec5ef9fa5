import { foundByRuns } from './found-by-runs.ts'
import { foundByTestsOfCalls } from './found-by-tests-of-calls.ts'
import { foundByTestsOfControllers } from './found-by-tests-of-controllers.ts'
import { foundByTestsOfInspection } from './found-by-tests-of-inspection.ts'
import { foundByTestsOfOperators } from './found-by-tests-of-operators.ts'
import { foundByTestsOfPostgres } from './found-by-tests-of-postgres.ts'
import { foundByTestsOfQueues } from './found-by-tests-of-queues.ts'
import { foundByTestsOfRedis } from './found-by-tests-of-redis.ts'
import { foundByTestsOfSqlite } from './found-by-tests-of-sqlite.ts'
import { foundByTestsOfStores } from './found-by-tests-of-stores.ts'
import { foundByTestsOfWaits } from './found-by-tests-of-waits.ts'
import { foundByTestsOfWorkers } from './found-by-tests-of-workers.ts'
import type { SourceMutant } from './source-mutant.ts'

/** Known defects, put back one at a time. */
export const sourceMutants: readonly SourceMutant[] = [
  ...foundByTestsOfQueues,
  ...foundByTestsOfInspection,
  ...foundByTestsOfWaits,
  ...foundByTestsOfWorkers,
  ...foundByTestsOfSqlite,
  ...foundByTestsOfRedis,
  ...foundByTestsOfPostgres,
  ...foundByTestsOfStores,
  ...foundByTestsOfCalls,
  ...foundByTestsOfControllers,
  ...foundByTestsOfOperators,
  ...foundByRuns,
]
