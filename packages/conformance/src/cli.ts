import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs, styleText } from 'node:util'
import type { Driver } from '@sluice/core'
import * as fc from 'fast-check'
import type { Case, CreateSubject } from './case.ts'
import { allCases } from './cases/all.ts'
import { byPromise, columns, type Report, tally } from './report.ts'
import {
  type CaseResult,
  createWithin,
  endWithin,
  failureText,
  missingVerbs,
  type RunOptions,
  runCases,
} from './run-cases.ts'

/** The environment of the command line: a terminal, or a test. */
export interface CommandLineWorld {
  /** The folder against which relative paths are resolved. */
  readonly cwd: string
  /** Whether the output is a terminal. */
  readonly isTerminal: boolean
  out(text: string): void
  err(text: string): void
}

/** Exit codes: every promise is kept, a promise is broken, or a usage error. */
export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const

const usage = `Usage: sluice-conformance <module> [options]

Tests a driver. The module exports \`create\`, a function that returns a subject:

  export const create = () => ({ driver: myDriver(), clock: fakeClock() })

Options:
  --only <id>          only this case, or this group of cases: done, or done.*; repeatable
  --except <id=why>    a promise that the driver breaks on purpose; repeatable
  --seed <n>           the seed of random histories; a run prints its own
  --model-runs <n>     how many histories are compared with the model
  --histories <n>      how many concurrent histories are recorded and checked
  --timeout-ms <ms>    how long one case may take, for a slow store
  --hint-ms <ms>       how long a wake from another process may take
  --path <p>           with --replay-path: repeats one failed comparison
  --replay-path <p>
  --list               lists the cases and runs none
  --json               prints one JSON document
  --help               prints this
`

class UsageError extends Error {}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        only: { type: 'string', multiple: true },
        except: { type: 'string', multiple: true },
        seed: { type: 'string' },
        'model-runs': { type: 'string' },
        histories: { type: 'string' },
        'timeout-ms': { type: 'string' },
        'hint-ms': { type: 'string' },
        path: { type: 'string' },
        'replay-path': { type: 'string' },
        list: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

type Values = ReturnType<typeof parsed>['values']

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!Number.isSafeInteger(value)) {
    throw new UsageError(`--${name} must be a whole number; got ${text}`)
  }
  return value
}

/** The options that say how much of something, which a repeated case needs, too. */
const amounts = ['model-runs', 'histories', 'timeout-ms', 'hint-ms'] as const

/** A whole number above zero: with none of something, a promise would be kept that nothing tested. */
function amount(name: (typeof amounts)[number], values: Values): number | undefined {
  const value = wholeNumber(name, values[name])
  if (value !== undefined && value < 1) {
    throw new UsageError(`--${name} must be at least 1; got ${value}`)
  }
  return value
}

/** The case of this id, or those of a group, which documents write as `done.*`. */
function casesOf(name: string): readonly Case[] {
  const group = name.replace(/\.\*$/, '')
  const found = allCases.filter(({ id }) => id === group || id.startsWith(`${group}.`))
  if (found.length === 0) throw new UsageError(`--only ${name}: no such case; see --list`)
  return found
}

function chosenCases(only: readonly string[] | undefined): readonly Case[] {
  if (only === undefined) return allCases
  const chosen = new Set(only.flatMap(casesOf))
  return allCases.filter((each) => chosen.has(each))
}

function exceptions(given: readonly string[] | undefined): Record<string, string> {
  const except: Record<string, string> = {}
  for (const each of given ?? []) {
    const equals = each.indexOf('=')
    if (equals < 1)
      throw new UsageError(`--except ${each}: a reason is missing, as in --except order.batch=why`)
    const id = each.slice(0, equals)
    if (!allCases.some((known) => known.id === id)) {
      throw new UsageError(`--except ${id}: no such case; see --list`)
    }
    except[id] = each.slice(equals + 1)
  }
  return except
}

async function loaded(path: string, cwd: string): Promise<CreateSubject> {
  const url = pathToFileURL(resolve(cwd, path)).href
  let module: { readonly create?: unknown }
  try {
    module = (await import(url)) as { readonly create?: unknown }
  } catch (error) {
    throw new UsageError(`${path} cannot be loaded: ${(error as Error).message}`)
  }
  const { create } = module
  if (typeof create !== 'function') {
    throw new UsageError(`${path} does not export a function create`)
  }
  return create as CreateSubject
}

/**
 * The command line of the suite: tests the driver of a module, prints a table by promise and the
 * failures, and returns an exit code.
 */
export async function runCommandLine(
  argv: readonly string[],
  world: CommandLineWorld,
): Promise<number> {
  try {
    const { values, positionals } = parsed(argv)
    if (values.help === true) {
      world.out(usage)
      return exitCodes.ok
    }
    const cases = chosenCases(values.only)
    if (values.list === true) {
      const listed = cases.map(({ id, title }) => ({ id, title }))
      if (values.json === true) world.out(`${JSON.stringify({ cases: listed }, undefined, 2)}\n`)
      else for (const { id, title } of listed) world.out(`${id}  ${title}\n`)
      return exitCodes.ok
    }
    const [path, ...others] = positionals
    if (path === undefined || others.length > 0) throw new UsageError('name one module')
    return await examined(path, cases, values, world)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    world.err(`${error.message}\n\n${usage}`)
    return exitCodes.usage
  }
}

async function examined(
  path: string,
  cases: readonly Case[],
  values: Values,
  world: CommandLineWorld,
): Promise<number> {
  const seed = wholeNumber('seed', values.seed) ?? (fc.sample(fc.nat(), 1)[0] as number)
  const options: RunOptions = {
    except: exceptions(values.except),
    timeoutMs: amount('timeout-ms', values),
    hintMs: amount('hint-ms', values),
    chance: {
      seed,
      modelRuns: amount('model-runs', values),
      histories: amount('histories', values),
      path: values.path,
      replayPath: values['replay-path'],
    },
  }
  const create = await loaded(path, world.cwd)
  let driver: Driver
  try {
    const subject = await createWithin(create, options)
    driver = subject.driver
    await endWithin(async () => await subject.dispose?.(), options)
  } catch (error) {
    world.err(`${path} gives no subject: ${shownError(error)}\n`)
    return exitCodes.failed
  }
  const missing = missingVerbs(driver)
  if (missing.length > 0) {
    world.err(`${driver.name ?? path} has no ${missing.join(', no ')}; these verbs are required\n`)
    return exitCodes.failed
  }
  const { name, capabilities } = driver
  const results = await collected(create, cases, options, world, values.json === true)
  const report: Report = { driver: name, capabilities, seed, results }
  const { failed } = tally(results)
  world.out(values.json === true ? asJson(report) : asText(report, path, values))
  return failed === 0 ? exitCodes.ok : exitCodes.failed
}

async function collected(
  create: CreateSubject,
  cases: readonly Case[],
  options: RunOptions,
  world: CommandLineWorld,
  isQuiet: boolean,
): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  const progress = (text: string): void => {
    // Overwrites the previous line, up to its end.
    if (world.isTerminal && !isQuiet) world.err(`\r${text}\u001b[K`)
  }
  const ids = cases.map(({ id }) => id)
  progress(`0/${ids.length} ${ids[0] ?? ''}`)
  for await (const result of runCases(create, { ...options, cases })) {
    results.push(result)
    progress(`${results.length}/${ids.length} ${ids[results.length] ?? ''}`)
  }
  progress('')
  return results
}

/** The printable part of an error. */
function shownError(error: unknown): string | undefined {
  if (error === undefined) return undefined
  return error instanceof Error ? error.message : String(error)
}

function asJson(report: Report): string {
  const results = report.results.map(({ error, history, ...rest }) => ({
    ...rest,
    ...(error !== undefined && { error: shownError(error) }),
    ...(rest.verdict === 'failed' && { history }),
  }))
  return `${JSON.stringify({ ...report, tally: tally(report.results), results }, undefined, 2)}\n`
}

function table(report: Report): string[] {
  const rows = [['promise', 'kept', 'broken', 'skipped', 'not asked', 'not met']]
  const row = (name: string, results: readonly CaseResult[]): string[] => {
    const { passed, failed, skipped, 'not-asked': notAsked, excepted } = tally(results)
    const counts = [passed, failed, skipped, notAsked, excepted]
    return [name, ...counts.map((n) => (n === 0 ? '·' : String(n)))]
  }
  for (const [promise, group] of byPromise(report.results)) rows.push(row(promise, group))
  rows.push(row('all', report.results))
  return columns(rows)
}

function replay(path: string, report: Report, { id }: CaseResult, values: Values): string {
  const given = amounts.filter((name) => values[name] !== undefined)
  const same = given.map((name) => ` --${name} ${values[name]}`).join('')
  return `sluice-conformance ${path} --only ${id} --seed ${report.seed}${same}`
}

function asText(report: Report, path: string, values: Values): string {
  const { results, driver, seed } = report
  const failed = results.filter(({ verdict }) => verdict === 'failed')
  const notMet = results.filter(({ verdict }) => verdict === 'excepted')
  const lines = [`${styleText('bold', driver)}, seed ${seed}`, '', ...table(report), '']
  for (const { id, reason, verdict } of results) {
    if (verdict === 'not-asked') lines.push(`not asked: ${id}: ${reason}`)
  }
  for (const { id, reason } of notMet) lines.push(`not met: ${id}: ${reason}`)
  for (const result of failed) {
    lines.push(styleText('red', '─'.repeat(72)), failureText(result), '')
    lines.push(`Repeat: ${replay(path, report, result, values)}`, '')
  }
  const { passed, skipped, 'not-asked': notAsked } = tally(results)
  const end = `${passed} kept, ${failed.length} broken, ${skipped} skipped, ${notAsked} not asked, ${notMet.length} not met`
  lines.push(styleText(failed.length === 0 ? 'green' : 'red', end), '')
  return lines.join('\n')
}
