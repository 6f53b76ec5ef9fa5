/**
 * How many kB (of 1,000 bytes) each entry point may add to a program, minified and compressed, with
 * our packages that it imports and without those of others. A change that needs more raises its line
 * here, where a reviewer sees it.
 */
export const sizeLimits: Readonly<Record<string, number>> = {
  '@sluice/backoff': 5,
  '@sluice/cli': 328.3,
  '@sluice/conformance': 91.8,
  '@sluice/conformance/cli': 80.1,
  '@sluice/conformance/node-test': 77.7,
  '@sluice/conformance/other-process': 4,
  '@sluice/conformance/sqlite-witness': 1,
  '@sluice/conformance/vitest': 77.7,
  '@sluice/core': 11,
  '@sluice/core/driver': 7.3,
  '@sluice/core/testing': 3,
  '@sluice/core/words': 3,
  '@sluice/dashboard': 74.9,
  '@sluice/dashboard/node': 75.8,
  '@sluice/kubernetes': 20,
  '@sluice/limiters': 8,
  '@sluice/memory': 18,
  '@sluice/metrics': 11,
  '@sluice/metrics/opentelemetry': 16,
  '@sluice/metrics/prometheus': 13,
  '@sluice/postgres': 52.4,
  '@sluice/redis': 50.3,
  '@sluice/sqlite': 29.7,
  sluice: 73.2,
  'sluice/testing': 3,
  'sluice/transfer': 25,
}

/** The same for `createQueue` with the memory driver in a browser, where less is fetched at first. */
export const browserLimits = {
  atFirst: 30.1,
  atFirstWithWorker: 36.5,
  inOneFile: 59.4,
  /** What is not fetched at first. */
  later: [
    'core/src/driver/history.ts',
    'core/src/driver/token-buckets.ts',
    'core/src/transitions/add.ts',
    'memory/src/memory-queue.ts',
    'memory/src/rows/',
    'queue/src/batched/',
    'queue/src/core/direct-backend.ts',
    'queue/src/leases/',
    'queue/src/queue/queue-transaction.ts',
    'queue/src/inspect/queue-inspection.ts',
    'queue/src/inspect/explain.ts',
    'queue/src/worker/',
    'queue/src/driver/remarks.ts',
  ],
} as const
