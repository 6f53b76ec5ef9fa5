import type { ImportOutcome, Transfer, TransferRow } from '@sluice/core'
import type { ModelDriver } from '../../../src/model/model-driver.ts'
import type { ModelStore } from '../../../src/model/model-store.ts'
import { type Mutant, ruleMutant, verbMutant } from '../mutant.ts'

/** The model with some of its transfer verbs replaced. */
function transferMutant(
  id: string,
  title: string,
  alter: (transfer: Transfer, store: ModelStore, driver: ModelDriver) => Partial<Transfer>,
): Mutant {
  return verbMutant(id, title, (driver, store) => ({
    transfer: { ...driver.transfer, ...alter(driver.transfer, store, driver) },
  }))
}

/** The model with a function applied to each row before it is imported. */
function rowMutant(id: string, title: string, change: (row: TransferRow) => TransferRow): Mutant {
  return transferMutant(id, title, (transfer) => ({
    importRows: (queue, rows) => transfer.importRows(queue, rows.map(change)),
  }))
}

/** Moving keys between stores, with one fault each. */
export const transferMutants: readonly Mutant[] = [
  rowMutant('import-no-later', 'the second run is lost', (row) => ({
    ...row,
    laterAt: Infinity,
  })),
  transferMutant(
    'transfer-answers-sorted',
    'rows are answered in the order of keys',
    (transfer) => ({
      dropRows: (queue, rows) =>
        transfer.dropRows(
          queue,
          rows.toSorted((a, b) => (a.key < b.key ? -1 : 1)),
        ),
    }),
  ),
  rowMutant('import-no-error', 'the last error is lost', (row) => ({
    ...row,
    lastError: undefined,
  })),
  rowMutant('import-no-trace', 'the trace contexts are lost', (row) => ({
    ...row,
    trace: undefined,
  })),
  ruleMutant('import-trace-stays', 'the stored trace contexts stay', (rules) => ({
    mergeRow(state, row, now) {
      const { trace } = state
      const outcome = rules.mergeRow(state, row, now)
      state.trace = trace ?? state.trace
      return outcome
    },
  })),
  rowMutant('import-unparked', 'parked keys are imported unparked', (row) => ({
    ...row,
    parked: false,
  })),
  rowMutant('import-whole-ms', 'instants are truncated to whole milliseconds', (row) => ({
    ...row,
    dueAt: Math.floor(row.dueAt),
    askedAt: Math.floor(row.askedAt),
  })),
  transferMutant('import-adds', 'each import counts the failures again', (transfer, store) => ({
    importRows: (queue, rows) =>
      transfer.importRows(
        queue,
        rows.map((row) => {
          const { failures } = store.key(queue, row.key).state
          return { ...row, failures: row.failures + failures }
        }),
      ),
  })),
  transferMutant('import-always-imported', 'every row is reported as imported', (transfer) => ({
    async importRows(queue, rows) {
      const outcomes = await transfer.importRows(queue, rows)
      return outcomes.map((): ImportOutcome => 'imported')
    },
  })),
  transferMutant('import-keeps-empty', 'an empty row is stored', (transfer, store) => ({
    async importRows(queue, rows) {
      const outcomes = await transfer.importRows(queue, rows)
      for (const { key, failures, dueAt, parked } of rows) {
        if (failures === 0 && dueAt === Infinity && !parked) {
          store.key(queue, key).state.failures = 1
        }
      }
      return outcomes
    },
  })),
  transferMutant(
    'import-last',
    'keys that are added later come before the imported ones',
    (_, store) => {
      store.raiseSeq = () => undefined
      return {}
    },
  ),
  transferMutant('import-seq-lost', 'imported keys get new positions', (transfer, store) => ({
    importRows: (queue, rows) =>
      transfer.importRows(
        queue,
        rows.map((row) => ({ ...row, seq: store.nextSeq() })),
      ),
  })),
  transferMutant('import-overwrites', 'a row replaces the stored one', (transfer, store) => ({
    importRows(queue, rows) {
      for (const { key, item } of rows) {
        const entry = store.key(queue, key)
        if (entry.state.token === 0) store.queue(queue).keys.delete(key)
        else entry.item = item
      }
      return transfer.importRows(queue, rows)
    },
  })),
  verbMutant('age-made-up', 'a key without an age is claimed with one', (driver) => ({
    claim(queue, request) {
      const reply = driver.claim(queue, request)
      const claims = reply.claims.map((claim) =>
        claim.askedAt === Infinity ? { ...claim, askedAt: Number.NaN } : claim,
      )
      return { ...reply, claims }
    },
  })),
  transferMutant('import-item-lost', 'the item of a new key is lost', (transfer) => ({
    importRows: (queue, rows) =>
      transfer.importRows(
        queue,
        rows.map((row) => ({ ...row, item: undefined })),
      ),
  })),
  transferMutant('import-frees', 'an import releases held keys', (transfer, store) => ({
    importRows(queue, rows) {
      for (const { key } of rows) store.key(queue, key).state.token = 0
      return transfer.importRows(queue, rows)
    },
  })),
  transferMutant('import-everywhere', 'rows go into another queue, too', (transfer, store) => ({
    importRows(queue, rows) {
      store.queue('other')
      for (const name of store.queues.keys()) {
        if (name !== queue) void transfer.importRows(name, rows)
      }
      return transfer.importRows(queue, rows)
    },
  })),
  verbMutant('import-without-wake', 'an import wakes no watcher', (driver) => {
    let isMuted = false
    return {
      transfer: {
        ...driver.transfer,
        importRows(queue, rows) {
          isMuted = true
          return driver.transfer.importRows(queue, rows)
        },
      },
      watch: (onWake) =>
        driver.watch((queue) => {
          if (!isMuted) onWake(queue)
        }),
    }
  }),
  verbMutant(
    'import-not-pending',
    'imported keys do not count towards maxPending',
    (driver, store) => {
      let imported = 0
      return {
        add: (queue, asks, options) =>
          driver.add(
            queue,
            asks,
            options.maxPending === undefined
              ? options
              : { ...options, maxPending: options.maxPending + imported },
          ),
        transfer: {
          ...driver.transfer,
          importRows(queue, rows) {
            const before = store.queue(queue).keys.size
            const outcomes = driver.transfer.importRows(queue, rows)
            imported += store.queue(queue).keys.size - before
            return outcomes
          },
        },
      }
    },
  ),
  transferMutant('drop-any', 'every listed key is dropped, changed or not', (_, store) => ({
    dropRows: (queue, rows) =>
      rows.map(({ key }) => (store.queue(queue).keys.delete(key) ? 'dropped' : 'missing')),
  })),
  transferMutant('drop-held', 'a key that is held by now is dropped', (transfer, store) => ({
    dropRows(queue, rows) {
      for (const { key } of rows) {
        const { state } = store.key(queue, key)
        if (state.token !== 0) store.queue(queue).keys.delete(key)
      }
      return transfer.dropRows(queue, rows)
    },
  })),
  transferMutant('drop-keeps-failures', 'dropped keys are still counted', (transfer, store) => ({
    async dropRows(queue, rows) {
      const outcomes = await transfer.dropRows(queue, rows)
      for (const { key, failures } of rows) {
        if (failures > 0) store.key(queue, key).state.failures = failures
      }
      return outcomes
    },
  })),
  transferMutant('drop-everywhere', 'keys of all queues are dropped', (transfer, store) => ({
    dropRows(queue, rows) {
      for (const name of store.queues.keys()) {
        if (name !== queue) void transfer.dropRows(name, rows)
        for (const { key } of rows) if (name !== queue) store.queue(name).keys.delete(key)
      }
      return transfer.dropRows(queue, rows)
    },
  })),
  transferMutant('buckets-overwritten', 'stored buckets are replaced', (_, store) => ({
    importBuckets: (buckets) =>
      buckets.map((bucket): ImportOutcome => {
        const isNew = !store.buckets.has(bucket.name)
        store.buckets.set(bucket.name, bucket)
        return isNew ? 'imported' : 'unchanged'
      }),
  })),
  transferMutant('last-token-held', 'the last token is that of a held key', (_, store) => ({
    lastToken: () =>
      Math.max(
        0,
        ...[...store.queues.values()].flatMap(({ keys }) =>
          [...keys.values()].map(({ state }) => state.token),
        ),
      ),
  })),
  transferMutant('tokens-set', 'tokens can be lowered', (_, store) => ({
    raiseTokens(floor) {
      if (floor >= store.lastToken) store.raiseToken(floor)
      else store.nextToken = () => floor + 1
    },
  })),
  transferMutant('tokens-a-little', 'small raises are ignored', (transfer, store) => ({
    raiseTokens: (floor) =>
      floor - store.lastToken < 100 ? undefined : transfer.raiseTokens(floor),
  })),
  verbMutant('tokens-own-process', 'tokens are raised in this process only', (driver, store) => {
    let floor = 0
    const above = <T extends { readonly token: number }>(claim: T): T =>
      claim.token > floor ? claim : { ...claim, token: claim.token + floor }
    return {
      transfer: {
        ...driver.transfer,
        lastToken: () => Math.max(floor, store.lastToken),
        raiseTokens(next) {
          floor = Math.max(floor, next)
        },
      },
      claim(queue, request) {
        const reply = driver.claim(queue, request)
        return { ...reply, claims: reply.claims.map(above) }
      },
    }
  }),
  ruleMutant('merge-later', 'of two runs the later one is kept', (rules) => ({
    mergeRow(state, row, now) {
      const { dueAt } = state
      const outcome = rules.mergeRow(state, row, now)
      if (dueAt !== Infinity && row.dueAt < dueAt) state.dueAt = dueAt
      return outcome
    },
  })),
]
