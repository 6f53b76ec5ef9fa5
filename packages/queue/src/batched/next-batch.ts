import { type BatchJob, follow } from './batch-job.ts'

/** The most that a store takes at a time. */
export interface BatchLimits {
  readonly batchKeys: number
  readonly batchBytes: number
}

/** The rules by which the jobs of one kind of call go together in a batch. */
export interface BatchRules<Request, Reply> {
  /** About how many bytes a request has, for the limit of a batch. */
  sizeOf(request: Request): number
  /** The priority at which a request puts its key into the order now; `undefined` if it does not. */
  orderedAt(request: Request): number | undefined
  /**
   * Merges a job into an earlier one of the same batch and key; returns how the later one is
   * answered, or `undefined` if the two cannot share a batch.
   */
  merge(
    earlier: BatchJob<Request, Reply>,
    later: BatchJob<Request, Reply>,
  ): ((reply: Reply) => Reply) | undefined
}

/**
 * Takes the jobs of the next batch from those that wait, in their order: of one kind and of different
 * keys. `busy`: the keys whose jobs have to wait for an answer. None overtakes an earlier job of its key,
 * and no ordered job overtakes one of its priority, unless that has to wait for an answer, which may take
 * long. Others may pass, so that floods of them keep their batches.
 */
export function nextBatch<Request, Reply>(
  waiting: readonly BatchJob<Request, Reply>[],
  busy: ReadonlySet<string>,
  { batchKeys, batchBytes }: BatchLimits,
  rules: BatchRules<Request, Reply>,
): { readonly jobs: BatchJob<Request, Reply>[]; readonly left: BatchJob<Request, Reply>[] } {
  const chosen = new Map<string, BatchJob<Request, Reply>>()
  const left: BatchJob<Request, Reply>[] = []
  const leftKeys = new Set<string>()
  let kind: string | undefined
  const heldUp = new Set<number | undefined>()
  let seen = 0
  let bytes = 0
  for (const job of waiting) {
    if (chosen.size >= batchKeys || bytes >= batchBytes) break
    seen += 1
    if (busy.has(job.key)) {
      left.push(job)
      continue
    }
    kind ??= job.kind
    const priority = rules.orderedAt(job.request)
    const mayJoin = job.kind === kind && !leftKeys.has(job.key)
    const earlier = chosen.get(job.key)
    if (mayJoin && earlier === undefined && !heldUp.has(priority)) {
      chosen.set(job.key, job)
      bytes += rules.sizeOf(job.request)
      continue
    }
    const answer = mayJoin && earlier !== undefined ? rules.merge(earlier, job) : undefined
    if (answer !== undefined) {
      follow(earlier, { job, answer })
    } else {
      leftKeys.add(job.key)
      if (priority !== undefined) heldUp.add(priority)
      left.push(job)
    }
  }
  // Jobs far behind a full batch are not visited: there may be very many.
  return {
    jobs: [...chosen.values()],
    left: seen < waiting.length ? left.concat(waiting.slice(seen)) : left,
  }
}
