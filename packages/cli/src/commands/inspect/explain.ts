import type { EpochMs } from '@sluice/core'
import { conditionWords, manyWords } from '@sluice/core/words'
import type { Condition, Explanation, KeyInfo } from 'sluice'
import { type CommandSpec, keyArgument, queueArgument } from '../../command.ts'
import { formatAge } from '../../duration.ts'
import { type ExitCode, exitCodes } from '../../exit-codes.ts'
import { checkedKey } from '../../input.ts'
import { oneLine, safeJson, shown } from '../../output/escape.ts'
import { formatInstant } from '../../output/instant.ts'
import type { Paint } from '../../output/paint.ts'
import { cutTo } from '../../output/table.ts'
import { errorLine } from '../../rows/key-columns.ts'
import { knownQueue } from '../../stores/known-queue.ts'

/** The maximum length of an item that is shown. */
const itemMax = 100

/** An instant, and its distance from now. */
function moment(at: EpochMs, now: EpochMs): string {
  const apart = at >= now ? `in ${formatAge(at - now)}` : `${formatAge(now - at)} ago`
  return `${formatInstant(at)} (${apart})`
}

function mark({ ok }: Condition, paint: Paint): string {
  if (ok === null) return '[-]'
  return ok ? paint('green', '[x]') : paint('red', '[ ]')
}

/** Omits the condition of this process's own queue, which takes no keys. */
function isAboutTheStore({ code }: Condition): boolean {
  return code !== 'QUEUE_SHUTTING_DOWN'
}

function factsOf(info: KeyInfo, now: EpochMs): [string, string][] {
  const { item, key, failures, crashes, held, askedAt, dueAt, laterAt } = info
  const facts: [string, string | false | undefined][] = [
    ['item', item !== key && cutTo(safeJson(item), itemMax)],
    ['priority', String(info.priority)],
    ['failures', failures > 0 && `${failures}, crashes ${crashes}`],
    ['last error', cutTo(errorLine(info), itemMax)],
    ['asked', askedAt !== undefined && moment(askedAt, now)],
    ['due', dueAt !== undefined && moment(dueAt, now)],
    ['and again', laterAt !== undefined && moment(laterAt, now)],
    ['held by', held && `${shown(held.holder ?? 'unknown')}, token ${held.token}`],
  ]
  return facts.filter((fact): fact is [string, string] => Boolean(fact[1]))
}

function linesOf(queue: string, explanation: Explanation, paint: Paint): string[] {
  const { key, state, info, blockedBy, next, retry, estimate, inspectedAt: now } = explanation
  const conditions = explanation.conditions.filter(isAboutTheStore)
  const facts = info === undefined ? [] : factsOf(info, now)
  const lines = conditions.map((condition) => ({ condition, words: conditionWords(condition) }))
  const width = Math.max(...lines.map(({ words }) => words.statement.length), 0)
  return [
    `${paint('bold', shown(key))} of ${shown(queue)} is ${state}`,
    ...facts.map(([name, value]) => `  ${name.padEnd(10)}  ${value}`),
    '',
    ...lines.map(({ condition, words: { statement, code, evidence } }) => {
      const { until } = condition
      const reason = code === undefined ? '' : `${code}: `
      const when = until === undefined ? '' : `; until ${moment(until, now)}`
      const detail = evidence === undefined ? '' : `${reason}${oneLine(evidence)}${when}`
      return `${mark(condition, paint)} ${statement.padEnd(width)}  ${detail}`.trimEnd()
    }),
    '',
    blockedBy === undefined ? 'not blocked' : `blocked by ${blockedBy}`,
    ...(next === undefined ? [] : [`next: ${next.to} at ${moment(next.at, now)}`]),
    ...(retry === undefined
      ? []
      : [`after ${manyWords(retry.failures, 'failure')}: ${oneLine(retry.words)}`]),
    ...(estimate === undefined
      ? []
      : [`starts about ${moment(estimate.startAt, now)}, confidence ${estimate.confidence}`]),
  ]
}

export const explain: CommandSpec = {
  name: 'explain',
  summary: 'Explain why a key is not running',
  details:
    'Lists the conditions for a run: [x] met, [ ] not met, with its code, [-] unknown or not relevant yet. Exits with 4 if the key does not exist.',
  group: 'Inspect',
  positionals: [queueArgument, keyArgument],
  examples: [
    { line: 'sluice explain orders order/42', does: 'what the key waits for, and until when' },
  ],
  json: '{ queue, key, state, blockedBy?, conditions: [{ code, ok: true | false | null, until?, evidence }], next?: { at, to }, retry?: { failures, perKeyMs?, bucketMs?, words }, estimate?: { startAt, confidence }, inspectedAt }',
  async run(context): Promise<ExitCode> {
    const { input, print } = context
    const queue = input.queue()
    const key = checkedKey(input.positional(1) ?? '')
    const { inspection } = await context.store('existing')
    const inspect = await knownQueue(context, inspection, queue)
    const explanation = await inspect.explain(key)
    const { info, ...sentence } = explanation
    if (print.isDocument) await print.document({ queue, ...sentence })
    else await print.lines(linesOf(queue, explanation, print.paint))
    return explanation.state === 'absent' ? exitCodes.notFound : exitCodes.ok
  },
}
