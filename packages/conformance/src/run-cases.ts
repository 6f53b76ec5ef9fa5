import { type Awaitable, type Driver, systemClock } from '@sluice/core'
import { type Case, type CreateSubject, missingHook, missingNeed, type Subject } from './case.ts'
import { allCases } from './cases/all.ts'
import { CaseResources } from './scene/case-resources.ts'
import { Scene } from './scene/scene.ts'
import type { ChanceOptions } from './scene/scene-parts.ts'
import { CallLog } from './wrappers/recorded.ts'

/**
 * The result of a case in one word.
 *
 * - `passed`, `failed`: the promise is kept, or broken.
 * - `skipped`: the driver does not declare a capability that the case needs.
 * - `not-asked`: the subject lacks an optional hook (`otherProcess`, `cutPower`) that the case needs.
 * - `excepted`: the promise is broken, and an exception with a reason was declared.
 */
export type Verdict = 'passed' | 'failed' | 'skipped' | 'not-asked' | 'excepted'

/** The result of one case. */
export interface CaseResult {
  readonly id: string
  readonly title: string
  readonly verdict: Verdict
  /** The reason why the case was skipped, not asked or excepted. */
  readonly reason?: string
  /** The error of a failed case. */
  readonly error?: unknown
  /** Every call that was made, with its answer, in order. */
  readonly history: readonly string[]
  /** How long it took, in milliseconds of real time. */
  readonly ms: number
}

/** How cases are run. */
export interface RunOptions {
  /** Promises that the driver breaks on purpose, by id, each with the reason. Default: none. */
  readonly except?: Readonly<Record<string, string>> | undefined
  /**
   * How long one case may take, in milliseconds of real time; creating its subject, and closing its
   * drivers with the removal of its stores, may each take as long again, and 15 s in any case.
   * Default 30 s. A search may take as long for each of its histories.
   */
  readonly timeoutMs?: number | undefined
  /** How long a wake from another process may take, in milliseconds of real time. Default 5,000. */
  readonly hintMs?: number | undefined
  /** The seed and the number of random histories. */
  readonly chance?: ChanceOptions | undefined
  /** The lease of cases that do not depend on its length; 30 s by default. */
  readonly leaseMs?: number | undefined
}

/** Only ends what hangs, also on a machine that is held up. */
const timeoutMsUsual = 30_000

/** How long a store may always take to appear or to go, in milliseconds of real time. */
const storeMsUsual = 15_000

/** How long a case may take, in milliseconds of real time. */
function timeoutOf(chosen: Case, options: RunOptions): number {
  return Math.max(options.timeoutMs ?? timeoutMsUsual, chosen.timeoutMs ?? 0)
}

/** How long creating a subject may take, and how long closing and removing everything may. */
function storeTimeoutOf({ timeoutMs = 0 }: RunOptions): number {
  return Math.max(storeMsUsual, timeoutMs)
}

/** The verbs that every driver has, in the order in which to implement them. */
const requiredVerbs: readonly (keyof Driver & string)[] = [
  'open',
  'close',
  'add',
  'claim',
  'finish',
  'list',
  'counts',
  'cancel',
  'forget',
  'renew',
  'expire',
  'tick',
]

/** The required verbs that a driver does not have. */
export function missingVerbs(driver: Driver): string[] {
  return requiredVerbs.filter((verb) => typeof driver[verb] !== 'function')
}

/** Rejects if the work does not end in time; `next` gives it the whole time again, for what comes next. */
async function withinTime<T>(
  what: string,
  work: (next: (what: string) => void) => Promise<T>,
  timeoutMs: number,
): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    let awaited = what
    const timer = systemClock.startTimer(timeoutMs, () => {
      reject(new Error(`${awaited} did not end within ${timeoutMs} ms of real time`))
    })
    timer.ref()
    const next = (following: string): void => {
      awaited = following
      // Not after the time has ended.
      if (timer.stop()) timer.reset(timeoutMs)
    }
    work(next)
      .then(resolve, reject)
      .finally(() => timer.stop())
  })
}

/** A new subject; fails if `create` takes too long. */
export async function createWithin(create: CreateSubject, options: RunOptions): Promise<Subject> {
  const created = (async () => await create())()
  try {
    return await withinTime('creating the subject', () => created, storeTimeoutOf(options))
  } catch (error) {
    // A subject that comes too late still has a store, which no case will remove.
    void created.then(async (late) => await late.dispose?.()).catch(() => {})
    throw error
  }
}

/** Closes and removes everything; fails if that takes too long. */
export async function endWithin(end: () => Awaitable<void>, options: RunOptions): Promise<void> {
  const what = 'closing the drivers and removing the stores of the case'
  await withinTime(what, async () => await end(), storeTimeoutOf(options))
}

async function play(
  chosen: Case,
  create: CreateSubject,
  options: RunOptions,
  log: CallLog,
): Promise<Pick<CaseResult, 'verdict' | 'reason'>> {
  const { hintMs, chance, leaseMs } = options
  const subject = await createWithin(create, options)
  const unasked = whyNotAsked(chosen, subject)
  if (unasked !== undefined) {
    await endWithin(async () => await subject.dispose?.(), options)
    return unasked
  }
  const resources = new CaseResources()
  let failure: { readonly error: unknown } | undefined
  try {
    await withinTime(
      'the case',
      async (next) => {
        const onHistory = (): void => next('a history of the case')
        const given = { log, subject, resources, hintMs, chance, leaseMs, onHistory }
        await chosen.run(await Scene.begin(create, given))
      },
      timeoutOf(chosen, options),
    )
  } catch (error) {
    failure = { error }
  }
  try {
    await endWithin(async () => await resources.end(), options)
  } catch (error) {
    failure ??= { error }
  }
  if (failure !== undefined) throw failure.error
  return { verdict: 'passed' }
}

/** The verdict on a case that the subject rules out; `undefined` if the case can run. */
export function whyNotAsked(
  { needs }: Case,
  subject: Subject,
): Pick<CaseResult, 'verdict' | 'reason'> | undefined {
  const need = missingNeed(needs, subject)
  if (need !== undefined) return { verdict: 'skipped', reason: need }
  const hook = missingHook(needs, subject)
  return hook === undefined ? undefined : { verdict: 'not-asked', reason: hook }
}

/** Runs one case on its own subject. Never rejects. */
export async function runCase(
  chosen: Case,
  create: CreateSubject,
  options: RunOptions = {},
): Promise<CaseResult> {
  const { id, title } = chosen
  const { except = {} } = options
  const log = new CallLog()
  const startedAt = systemClock.monotonicMs()
  const result = (verdict: Verdict, rest: Partial<CaseResult> = {}): CaseResult => {
    const history = log.lines
    return { id, title, verdict, history, ms: systemClock.monotonicMs() - startedAt, ...rest }
  }
  const excuse = except[id]
  try {
    const { verdict, ...why } = await play(chosen, create, options, log)
    if (verdict !== 'passed' || excuse === undefined) return result(verdict, why)
    const message = `the promise is kept; remove the exception for it: ${excuse}`
    return result('failed', { error: new Error(message) })
  } catch (error) {
    if (excuse !== undefined) return result('excepted', { reason: excuse, error })
    return result('failed', { error })
  }
}

/** Runs cases one after another, and yields each result as soon as it is known. */
export async function* runCases(
  create: CreateSubject,
  options: RunOptions & { readonly cases?: readonly Case[] } = {},
): AsyncGenerator<CaseResult, void, undefined> {
  const { cases = allCases } = options
  checkExceptions(options.except, cases)
  for (const chosen of cases) yield await runCase(chosen, create, options)
}

/** Throws if an exception is declared for an unknown promise. */
export function checkExceptions(
  except: Readonly<Record<string, string>> | undefined,
  cases: readonly Case[],
): void {
  const ids = new Set(cases.map(({ id }) => id))
  for (const id of Object.keys(except ?? {})) {
    if (!ids.has(id)) throw new Error(`an exception is made for ${id}, which is no case`)
  }
}

/** The message of an error and of its causes. */
function messages({ message, cause }: Error): string[] {
  return cause instanceof Error ? [message, ...messages(cause)] : [message]
}

/** The report of a failed case: the promise, the error, and every call with its answer. */
export function failureText({ id, title, error, history }: CaseResult): string {
  const why = error instanceof Error ? messages(error).join('\n\n') : String(error)
  const calls = history.map((line, index) => `  ${String(index + 1).padStart(3)} ${line}`)
  const log = calls.length === 0 ? [] : ['', 'Calls and answers:', ...calls]
  return [`${id}: ${title}`, '', why, ...log].join('\n')
}
