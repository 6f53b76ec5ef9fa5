import { foundByRuns } from './found-by-runs.ts'
import { foundByTestsOfBatches } from './found-by-tests/batches.ts'
import { foundByTestsOfBuckets } from './found-by-tests/buckets.ts'
import { foundByTestsOfCalls } from './found-by-tests/calls.ts'
import { foundByTestsOfClaims } from './found-by-tests/claims.ts'
import { foundByTestsOfCliAndDashboard } from './found-by-tests/cli-and-dashboard.ts'
import { foundByTestsOfClocks } from './found-by-tests/clocks.ts'
import { foundByTestsOfConformance } from './found-by-tests/conformance.ts'
import { foundByTestsOfControllers } from './found-by-tests/controllers.ts'
import { foundByTestsOfCoreAndMemory } from './found-by-tests/core-and-memory.ts'
import { foundByTestsOfDamagedStores } from './found-by-tests/damaged-stores.ts'
import { foundByTestsOfDashboard } from './found-by-tests/dashboard.ts'
import { foundByTestsOfEndingCommands } from './found-by-tests/ending-commands.ts'
import { foundByTestsOfIdleProcesses } from './found-by-tests/idle-processes.ts'
import { foundByTestsOfInspection } from './found-by-tests/inspection.ts'
import { foundByTestsOfKeyStates } from './found-by-tests/key-states.ts'
import { foundByTestsOfMetrics } from './found-by-tests/metrics.ts'
import { foundByTestsOfMetricsScrapes } from './found-by-tests/metrics-scrapes.ts'
import { foundByTestsOfOperators } from './found-by-tests/operators.ts'
import { foundByTestsOfPasswords } from './found-by-tests/passwords.ts'
import { foundByTestsOfPostgres } from './found-by-tests/postgres.ts'
import { foundByTestsOfPostgresConnections } from './found-by-tests/postgres-connections.ts'
import { foundByTestsOfPostgresNotices } from './found-by-tests/postgres-notices.ts'
import { foundByTestsOfPostgresPools } from './found-by-tests/postgres-pools.ts'
import { foundByTestsOfPostgresServers } from './found-by-tests/postgres-servers.ts'
import { foundByTestsOfPrograms } from './found-by-tests/programs.ts'
import { foundByTestsOfQueues } from './found-by-tests/queues.ts'
import { foundByTestsOfRedis } from './found-by-tests/redis.ts'
import { foundByTestsOfRedisAnswers } from './found-by-tests/redis-answers.ts'
import { foundByTestsOfRedisConnections } from './found-by-tests/redis-connections.ts'
import { foundByTestsOfRedisFailovers } from './found-by-tests/redis-failovers.ts'
import { foundByTestsOfRedisRecords } from './found-by-tests/redis-records.ts'
import { foundByTestsOfRedisServers } from './found-by-tests/redis-servers.ts'
import { foundByTestsOfRuns } from './found-by-tests/runs.ts'
import { foundByTestsOfSqlite } from './found-by-tests/sqlite.ts'
import { foundByTestsOfSqliteConnections } from './found-by-tests/sqlite-connections.ts'
import { foundByTestsOfSqliteFiles } from './found-by-tests/sqlite-files.ts'
import { foundByTestsOfStopping } from './found-by-tests/stopping.ts'
import { foundByTestsOfTransfer } from './found-by-tests/transfer.ts'
import { foundByTestsOfWaits } from './found-by-tests/waits.ts'
import { foundByTestsOfWorkers } from './found-by-tests/workers.ts'
import type { SourceMutant } from './source-mutant.ts'

/** Known defects, put back one at a time. */
export const sourceMutants: readonly SourceMutant[] = [
  ...foundByTestsOfConformance,
  ...foundByTestsOfCoreAndMemory,
  ...foundByTestsOfKeyStates,
  ...foundByTestsOfQueues,
  ...foundByTestsOfBatches,
  ...foundByTestsOfDashboard,
  ...foundByTestsOfDamagedStores,
  ...foundByTestsOfBuckets,
  ...foundByTestsOfCalls,
  ...foundByTestsOfClaims,
  ...foundByTestsOfWaits,
  ...foundByTestsOfWorkers,
  ...foundByTestsOfRuns,
  ...foundByTestsOfStopping,
  ...foundByTestsOfIdleProcesses,
  ...foundByTestsOfInspection,
  ...foundByTestsOfTransfer,
  ...foundByTestsOfSqlite,
  ...foundByTestsOfSqliteConnections,
  ...foundByTestsOfSqliteFiles,
  ...foundByTestsOfPostgres,
  ...foundByTestsOfPostgresConnections,
  ...foundByTestsOfPostgresNotices,
  ...foundByTestsOfPostgresPools,
  ...foundByTestsOfPostgresServers,
  ...foundByTestsOfRedis,
  ...foundByTestsOfRedisAnswers,
  ...foundByTestsOfRedisConnections,
  ...foundByTestsOfRedisFailovers,
  ...foundByTestsOfRedisRecords,
  ...foundByTestsOfRedisServers,
  ...foundByTestsOfControllers,
  ...foundByTestsOfMetrics,
  ...foundByTestsOfMetricsScrapes,
  ...foundByTestsOfCliAndDashboard,
  ...foundByTestsOfClocks,
  ...foundByTestsOfPrograms,
  ...foundByTestsOfOperators,
  ...foundByTestsOfPasswords,
  ...foundByTestsOfEndingCommands,
  ...foundByRuns,
]
