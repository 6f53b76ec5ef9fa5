import { Chance } from '@sluice/conformance'
import { type Driver, type ListReply, SluiceError } from '@sluice/core'
import { createQueue } from 'sluice'
import { Hostile, spoiled } from './hostile.ts'
import { stage, type Target } from './targets.ts'

/** What wrong calls came to. */
export interface WrongCallsReport {
  /** Calls that were refused with an error of ours. */
  readonly refused: number
  readonly calls: number
  readonly targets: number
  /** What is wrong, each once: an untyped error, a call without an answer, a change. */
  readonly problems: readonly string[]
}

/** A call that is no wait has an answer after so many pauses. A machine that stalls takes one of them. */
const answerPauses = 20
const pauseMs = 50

/** How often each function is called in a round, about. */
const callsEach = 8

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const pending = Symbol('pending')

async function answerOf(answer: unknown): Promise<unknown> {
  let pauses = 0
  // real time: see where it is started.
  let ticker: ReturnType<typeof setInterval> | undefined
  const late = new Promise<typeof pending>((resolve) => {
    // real time: a call that never answers is what is looked for.
    ticker = setInterval(() => {
      pauses += 1
      if (pauses > answerPauses) resolve(pending)
    }, pauseMs)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearInterval(ticker)
  }
}

/** What is stored, without what getters change that wait since an earlier call. */
function rowsOf(driver: Driver): string {
  const rows = ['q', 'd', 'other'].flatMap(
    (queue) => (driver.list(queue, { limit: 1_000 }) as ListReply).rows,
  )
  return JSON.stringify(
    rows.map(({ key, item, parked, failures }) => [key, item, parked, failures]),
  )
}

/** Whether an error says what was wrong, or is the argument's own. */
function isFair(error: unknown): boolean {
  if (SluiceError.is(error) || error instanceof Hostile) return true
  // A signal that is aborted already is answered with its reason.
  if (error instanceof DOMException && error.name === 'AbortError') return true
  return error instanceof TypeError && /revoked/.test(error.message)
}

/** Calls everything that users can call, wrongly, and says what came of it. */
export async function wrongCalls(options: {
  readonly seed: number
  readonly rounds: number
}): Promise<WrongCallsReport> {
  const chance = new Chance(options.seed)
  const problems = new Set<string>()
  let refused = 0
  let calls = 0
  let targets = 0
  for (let round = 0; round < options.rounds; round += 1) {
    const { driver, targets: all, close } = await stage()
    targets = all.length
    for (let call = 0; call < callsEach * all.length; call += 1) {
      calls += 1
      if (await isRefused(chance.pick(all), driver, chance, problems)) refused += 1
    }
    await usable(driver, problems)
    await close()
  }
  return { refused, calls, targets, problems: [...problems] }
}

async function isRefused(
  target: Target,
  driver: Driver,
  chance: Chance,
  problems: Set<string>,
): Promise<boolean> {
  const { name, call, sound, waits } = target
  const args = spoiled(sound, chance)
  // What an earlier call has left to do is done.
  await nextTurn()
  const before = rowsOf(driver)
  try {
    const answer: unknown = call(...args)
    if (waits) {
      void Promise.resolve(answer).catch(() => {})
      await Promise.resolve()
      return false
    }
    const made = await answerOf(answer)
    if (made === pending) problems.add(`${name} does not answer`)
    else if (!name.includes('.')) await closed(made)
    return false
  } catch (error) {
    if (!isFair(error))
      problems.add(
        `${name}: ${String((error as Error)?.stack)
          .split('\n', 2)
          .join(' ')}`,
      )
    else if (rowsOf(driver) !== before) problems.add(`${name} was refused, and changed something`)
    return SluiceError.is(error)
  }
}

/** Closes what a function of a package made: metrics listen to everything in the process until then. */
async function closed(made: unknown): Promise<void> {
  const close = (made as { readonly close?: unknown } | undefined)?.close
  if (typeof close === 'function') await answerOf(Reflect.apply(close, made, []))
}

/** After all of that, a key that is added runs. */
async function usable(driver: Driver, problems: Set<string>): Promise<void> {
  const queue = createQueue<string>({ name: 'usable', driver })
  await queue.add('a key')
  const answer = queue.get()
  if ((await answerOf(answer)) === pending) problems.add('the store is of no use any more')
  else await (await answer)?.done()
  await queue.close()
}
