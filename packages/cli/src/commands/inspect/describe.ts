import { bucketsOf, lastSeenPlan } from '@sluice/core'
import { durationWords, percentWords, planWords, rateWords, sinceWords } from '@sluice/core/words'
import { type CommandSpec, queueArgument } from '../../command.ts'
import { shown } from '../../output/escape.ts'
import { bucketsNow } from '../../rows/buckets-now.ts'
import { counted } from '../../rows/queue-rows.ts'
import { knownQueue } from '../../stores/known-queue.ts'

/** How many failed runs are shown. */
const failedMax = 5

export const describe: CommandSpec = {
  name: 'describe',
  summary: 'Describe a queue: its state and why, rates, workers, limiter and failures',
  details: 'Rates are of the last minute, as workers report them every 10 s.',
  group: 'Inspect',
  positionals: [queueArgument],
  examples: [{ line: 'sluice describe orders', does: 'all that is known of the queue' }],
  json: '{ queue, severity, reason, since?, counts, rates, workers: [], limiters: [], buckets: [], failedRuns: [] }',
  async run(context) {
    const { input, print } = context
    const queue = input.queue()
    const { inspection } = await context.store('existing')
    const inspect = await knownQueue(context, inspection, queue)
    const { capabilities } = inspection
    const { judgeQueue, severitySince } = await import('sluice')
    const [counts, workers, history, failedRuns, now, buckets] = await Promise.all([
      inspect.counts(),
      inspect.workers(),
      capabilities.history ? inspect.history() : undefined,
      inspect.failedRuns(),
      inspection.now(),
      capabilities.buckets ? bucketsNow(inspection) : [],
    ])
    const signs = { now, counts, workers: capabilities.workers ? workers : undefined, history }
    const { severity, reason, rates, slots, gone, oldestMs, workers: live } = judgeQueue(signs)
    const since = await severitySince(severity, signs, inspect)
    // One worker for each limiter: those of a deployment in progress may differ.
    const differing = new Map(workers.map((worker) => [worker.settings['limiter'], worker]))
    differing.delete(undefined)
    const limiters = [...differing.keys()]
    const plans = [...differing.values()].map((worker) => lastSeenPlan([worker]))
    const named = plans.flatMap((plan) => (plan === undefined ? [] : bucketsOf(plan)))
    // Its own bucket needs no worker: producers take from it too.
    const names = new Set([`queue:${queue}`, ...named.map(({ name }) => name)])
    const own = buckets.filter(({ name }) => names.has(name))
    if (print.isDocument) {
      const state = { queue, severity, reason, since, counts, rates }
      return await print.document({ ...state, workers, limiters, buckets: own, failedRuns })
    }
    const { ready, delayed, backoff, processing, dirty, parked, idle } = counts
    const facts: readonly (readonly [string, string])[] = [
      ['state', `${severity}${since === undefined ? '' : ` ${sinceWords(since, now)}`}: ${reason}`],
      [
        'keys',
        Object.entries({ ready, delayed, backoff, processing, dirty, parked, idle })
          .map(([state, count]) => `${counted(count, counts)} ${state}`)
          .join(', '),
      ],
      ['oldest ready', oldestMs === undefined ? 'none' : durationWords(oldestMs)],
      ['in, out', `${rateWords(rates.inPerSecond)}, ${rateWords(rates.outPerSecond)} per second`],
      ['failed runs', percentWords(rates.errorRatio)],
      ['merged adds', percentWords(rates.mergedRatio)],
      ['workers', `${live}, for ${slots} keys at a time${gone === 0 ? '' : `; ${gone} gone`}`],
      ...plans.map((plan, at) => {
        const words = plan === undefined ? String(limiters[at]) : planWords(plan)
        return ['limiter', shown(words)] as const
      }),
      ...own.map(
        ({ name, perSecond, burst, tokens }) =>
          [
            'bucket',
            `${shown(name)}: ${tokens.toFixed(1)} of ${burst}, ${perSecond} per second`,
          ] as const,
      ),
      ...failedRuns
        .slice(0, failedMax)
        .map(
          ({ at, key, code, error }) =>
            [
              'failed',
              `${durationWords(now - at)} ago: ${shown(key)}: ${shown(`${code}: ${error.message}`)}`,
            ] as const,
        ),
    ]
    await print.lines([
      `${shown(queue)}${counts.paused ? ' (paused)' : ''}`,
      ...facts.map(([name, text]) => `  ${name.padEnd(13)} ${text}`),
    ])
  },
}
