import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the metrics and the traces, and the tests that find them. */
export const foundByTestsOfMetrics: readonly FoundByTest[] = [
  {
    name: 'the concurrency of a queue is 0 when one of its workers has stopped',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-record.ts',
        find: 'Math.max(0, left)',
        replace: '0',
      },
    ],
    finder: {
      file: 'packages/metrics/test/client-go.test.ts',
      title: 'the runs of handlers, as controller-runtime counts them',
    },
  },
  {
    name: 'a key that is found after the answer of its claim was lost has no span',
    edits: [
      {
        file: 'packages/metrics/src/tracing.ts',
        find: "} else if (event.verb === 'adopt') this.#claimed(event, held, event.result as SeenClaim[])",
        replace: '}',
      },
    ],
    finder: {
      file: 'packages/metrics/test/tracing.test.ts',
      title: 'a key that is found after the answer of its claim was lost has its spans, too',
    },
  },
  {
    name: 'the depth misses the second run of a key that was parked',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-ledger.ts',
        find: 'if (run.dueAt <= moment.now) this.#delay(key, run.laterAt, run.priority)',
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/metrics/metrics.test.ts',
      title: 'the second run of a key is counted after it was parked and unparked',
    },
  },
  {
    name: 'the adds of a shared store are remembered without a limit',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-ledger.ts',
        find: 'this.#marks.size >= sharedMarksMax',
        replace: 'this.#marks.size >= Infinity',
      },
    ],
    finder: {
      file: 'packages/metrics/test/raising.test.ts',
      title: 'on a shared store, at most ten thousand adds are remembered: the newest',
    },
  },
  {
    name: 'a key that the end of its lease parks stays in the depth',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-ledger.ts',
        find: "if (outcome === 'parked') this.parked(key, now)",
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/metrics/metrics.test.ts',
      title: 'a key that the end of its lease parks leaves the depth',
    },
  },
  {
    name: 'a run whose error cannot be read keeps its span open',
    edits: [
      {
        file: 'packages/metrics/src/mark-failed.ts',
        find: '} catch {\n    // The span ends with what could be read.\n  }',
        replace: '} finally {\n    // The span ends with what could be read.\n  }',
      },
    ],
    finder: {
      file: 'packages/metrics/test/tracing.test.ts',
      title: 'a run ends its span also if its error cannot be read',
    },
  },
  {
    name: 'metrics keep every deadline that a delayed key ever had',
    edits: [
      {
        file: 'packages/metrics/src/queue/due-heap.ts',
        find: 'this.#settle(this.#positions.get(entry.key) ?? this.#entries.length, entry)',
        replace: 'this.#settle(this.#entries.length, entry)',
      },
    ],
    finder: {
      file: 'packages/metrics/test/raising.test.ts',
      title: 'a key that is delayed a million times over is remembered once',
    },
  },
  {
    name: 'metrics count a raised priority as an add',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-ledger.ts',
        find: ": dedupe !== 'earliest' || mark?.dueAt === dueAt || dueAt < now - dueBeforeMs",
        replace: ": dedupe !== 'earliest'",
      },
    ],
    finder: {
      file: 'packages/metrics/test/raising.test.ts',
      title: 'is no add, and its wait goes on',
    },
  },
  {
    name: 'metrics count in later what was only raised',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-ledger.ts',
        find: "if (dedupe === 'client-go') this.#delaySecond(key, now + delayMs, priority)",
        replace: 'this.#delaySecond(key, now + delayMs, priority)',
      },
    ],
    finder: {
      file: 'packages/metrics/test/raising.test.ts',
      title: 'raises its priority, and promises nothing for later',
    },
  },
  {
    name: 'priority 0 takes one of the 25 labels',
    edits: [
      {
        file: 'packages/metrics/src/queue/priority-labels.ts',
        find: 'new Set<number>()',
        replace: 'new Set<number>([0])',
      },
    ],
    finder: {
      file: 'packages/metrics/test/prometheus.test.ts',
      title: '25 priorities keep their labels, whether or not 0 is among them',
    },
  },
  {
    name: 'metrics of closed queues stay',
    edits: [
      {
        file: 'packages/metrics/src/recorder/recorder.ts',
        find: 'provider.forgetQueue?.(name)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/metrics/test/closed-queues.test.ts',
      title: 'a queue that was closed is exported once more with its last values',
    },
  },
  {
    name: 'the depth in memory lacks keys that were unparked',
    edits: [
      {
        file: 'packages/metrics/src/recorder/recorder.ts',
        find: "else if (verb === 'unpark') ledger.unparked(key, moment)",
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/metrics/metrics.test.ts',
      title: 'parked keys leave the depth, and come back when they are unparked',
    },
  },
  {
    name: 'the depth in memory has keys that were parked by their runs',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-ledger.ts',
        find: "if (reply.outcome === 'parked') this.#park(key, reply.dueAt, priority)",
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/metrics/metrics.test.ts',
      title: 'parked keys leave the depth, and come back when they are unparked',
    },
  },
  {
    name: 'of queues with one controller label, the gauges show the last one',
    edits: [
      {
        file: 'packages/metrics/src/provider/gauge-sum.ts',
        find: 'sum += value',
        replace: 'sum = value',
      },
    ],
    finder: {
      file: 'packages/metrics/test/prometheus.test.ts',
      title: 'the gauges of queues with one controller label are added up',
    },
  },
  {
    name: 'a key that cannot be shown costs the spans of the keys claimed with it',
    edits: [
      {
        file: 'packages/metrics/src/tracing.ts',
        find: 'this.#onError(error)\n      return {}',
        replace: 'throw error',
      },
    ],
    finder: {
      file: 'packages/metrics/test/tracing.test.ts',
      title: 'a key that cannot be shown has spans all the same, and so have those beside it',
    },
  },
  {
    name: 'a queue that is opened again is the last in line for the exporter of its store',
    edits: [
      {
        file: 'packages/metrics/src/recorder/store-reader.ts',
        find: 'exporter, clock, this.#holder)',
        replace: 'exporter, clock, randomUUID())',
      },
    ],
    finder: {
      file: 'packages/metrics/test/store.test.ts',
      title: 'a queue that is closed and opened again is exported by its process as before',
    },
  },
  {
    name: 'all queues of a process share their spans by token',
    edits: [
      {
        file: 'packages/metrics/src/tracing.ts',
        find: 'this.#helds.get(holder) ?? new Map()',
        replace: 'this.#helds.values().next().value ?? new Map()',
      },
    ],
    finder: {
      file: 'packages/metrics/test/tracing.test.ts',
      title: 'two queues of a driver with the same token have a span each',
    },
  },
  {
    name: 'members that every object has are presets of buckets',
    edits: [
      {
        file: 'packages/metrics/src/provider/buckets.ts',
        find: 'Object.hasOwn(presets, buckets) ? presets[buckets] : undefined',
        replace: 'presets[buckets]',
      },
    ],
    finder: {
      file: 'packages/metrics/test/parts.test.ts',
      title: 'bounds of one s own have to rise from above 0',
    },
  },
  {
    name: 'the depth lacks the keys whose holders have all vanished',
    edits: [
      {
        file: 'packages/metrics/src/recorder/store-reader.ts',
        find: 'heldUntil <= now ? processing : 0',
        replace: '0 * heldUntil * processing',
      },
    ],
    finder: {
      file: 'tests/test/metrics/metrics-of-processes.test.ts',
      title: 'the depth has the keys whose holders have all vanished',
    },
  },
  {
    name: 'without the metrics of controller-runtime, no metric is exported',
    edits: [
      {
        file: 'packages/metrics/src/provider/adapter-options.ts',
        find: "controllerRuntime !== false || metricTable[id].family !== 'controller-runtime'",
        replace: 'controllerRuntime !== false && id !== undefined',
      },
    ],
    finder: {
      file: 'packages/metrics/test/prometheus.test.ts',
      title: 'without controller-runtime, its names are free',
    },
  },
  {
    name: 'the time of a reconciliation has the buckets of a queue',
    edits: [
      {
        file: 'packages/metrics/src/provider/adapter-options.ts',
        find: "id === 'reconcileTime' ? reconcileBuckets : queueBounds",
        replace: "id === 'reconcileTime' ? queueBounds : queueBounds",
      },
    ],
    finder: {
      file: 'packages/metrics/test/prometheus.test.ts',
      title: 'the time of a reconciliation has the buckets of controller-runtime',
    },
  },
  {
    name: 'OpenTelemetry observes the gauges of closed queues for ever',
    edits: [
      {
        file: 'packages/metrics/src/opentelemetry.ts',
        find: 'void cells.delete(cell)',
        replace: 'void cells.has(cell)',
      },
    ],
    finder: {
      file: 'packages/metrics/test/opentelemetry.test.ts',
      title: 'the gauges of a closed queue end, and are there again when it is opened again',
    },
  },
  {
    name: 'the gauges of a controller are lost when its last queue was closed once',
    edits: [
      {
        file: 'packages/metrics/src/provider/gauge-sum.ts',
        find: 'this.#onDrop()',
        replace: 'void this.#onDrop',
      },
    ],
    finder: {
      file: 'packages/metrics/test/opentelemetry.test.ts',
      title: 'the gauges of a closed queue end, and are there again when it is opened again',
    },
  },
  {
    name: 'a process that has closed its queue stays the exporter of its store',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-record.ts',
        find: 'store?.election?.leave().catch(() => undefined)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/metrics/test/store.test.ts',
      title: 'the next one takes over at once when the first closes its queue',
    },
  },
  {
    name: 'a scrape before the first use of a driver is reported as an error',
    edits: [
      {
        file: 'packages/metrics/src/recorder/store-reader.ts',
        find: 'if (isOpen || isOfDamage(error)) this',
        replace: 'this',
      },
    ],
    finder: {
      file: 'packages/metrics/test/store.test.ts',
      title: 'a store that no queue has opened yet is no error',
    },
  },
  {
    name: 'a key that is unparked before it is due is in the depth',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-ledger.ts',
        find: 'if (dueAt > now) this.#delay(key, dueAt, priority)\n    else this',
        replace: 'this',
      },
    ],
    finder: {
      file: 'tests/test/metrics/metrics.test.ts',
      title: 'parked keys leave the depth, and come back when they are unparked',
    },
  },
  {
    name: 'the age of the oldest ready key is by the clock of this process',
    edits: [
      {
        file: 'packages/metrics/src/recorder/store-reader.ts',
        find: 'now = verdict.now\n',
        replace: 'void verdict.now\n',
      },
    ],
    finder: {
      file: 'packages/metrics/test/store.test.ts',
      title: 'ages and waits are by the time of the store',
    },
  },
  {
    name: 'how long a key was ready is by the clock of this process',
    edits: [
      {
        file: 'packages/metrics/src/recorder/recorder.ts',
        find: "if (typeof now === 'number') store.offsetMs",
        replace: 'if (now === null) store.offsetMs',
      },
    ],
    finder: {
      file: 'packages/metrics/test/store.test.ts',
      title: 'ages and waits are by the time of the store',
    },
  },
]
