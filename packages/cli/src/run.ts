import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Timer } from '@sluice/core'
import { CommandError, notConfirmedError, usageError } from './command-error.ts'
import type { Grammar } from './completion/candidates.ts'
import type { Context } from './context.ts'
import { exitCodes } from './exit-codes.ts'
import type { Input } from './input.ts'
import { oneLine } from './output/escape.ts'
import type { Printer } from './output/printer.ts'
import type { Invocation } from './program.ts'
import { readContexts, storeOfContext } from './stores/contexts.ts'
import { type OpenStore, openStore, refuseMalformed, type StoreUse } from './stores/open-store.ts'
import type { Secrets } from './stores/secrets.ts'
import { parseStoreAddress, type StoreAddress } from './stores/store-address.ts'
import type { Terminal } from './terminal.ts'
import { aborted } from './wait.ts'

/** How long a command may take to end after it was aborted, in milliseconds. */
const endMs = 2_000

/** One run of a command: its environment, and the functions that run when it has ended. */
export class Run implements Context {
  readonly input: Input
  readonly terminal: Terminal
  readonly print: Printer
  readonly secrets: Secrets
  readonly grammar: Grammar
  readonly signal: AbortSignal
  readonly #spec: Invocation['spec']
  readonly #ends: (() => Promise<void> | void)[] = []
  readonly #outOfTime = new AbortController()
  #timer: Timer | undefined

  constructor(
    invocation: Invocation,
    world: Pick<Context, 'terminal' | 'print' | 'secrets' | 'grammar'>,
  ) {
    const { terminal, print, secrets, grammar } = world
    this.#spec = invocation.spec
    this.input = invocation.input
    this.terminal = terminal
    this.print = print
    this.secrets = secrets
    this.grammar = grammar
    this.signal = AbortSignal.any([terminal.interrupted, this.#outOfTime.signal])
  }

  /** Runs the command, and closes everything it has opened. */
  async toEnd(): Promise<number> {
    const timeoutMs = this.input.durationMs('timeout')
    if (timeoutMs !== undefined) this.#startTimeout(timeoutMs)
    const abort = aborted(this.signal)
    try {
      const work = Promise.resolve(this.#spec.run(this))
      const ended = this.#spec.endsAfterAbort === true ? work : Promise.race([work, abort.promise])
      const code = await ended
      this.signal.throwIfAborted()
      return typeof code === 'number' ? code : exitCodes.ok
    } catch (error) {
      // Any other error after the abort is a consequence of it.
      throw this.signal.aborted ? this.signal.reason : error
    } finally {
      abort.forget()
      this.#timer?.stop()
      await this.print.endProgress()
      await this.#end()
    }
  }

  #startTimeout(ms: number): void {
    this.#timer = this.terminal.clock.startTimer(ms, () => {
      const text = oneLine(this.input.text('timeout') ?? '')
      this.#outOfTime.abort(
        new CommandError('ERR_TIMEOUT', `not done within ${text}`, exitCodes.failed),
      )
    })
    this.#timer.ref()
  }

  async #end(): Promise<void> {
    for (let end = this.#ends.pop(); end !== undefined; end = this.#ends.pop()) {
      // The process ends; resources that could not be closed end with it.
      const ending = Promise.resolve()
        .then(end)
        .catch(() => {})
      await (this.signal.aborted ? Promise.race([ending, this.#soon()]) : ending)
    }
  }

  #soon(): Promise<void> {
    return new Promise((done) => {
      this.terminal.clock.startTimer(endMs, done).ref()
    })
  }

  defer(end: () => Promise<void> | void): void {
    this.#ends.push(end)
  }

  async address(): Promise<StoreAddress> {
    const address = await this.addressIfNamed()
    if (address !== undefined) return address
    throw usageError(
      'no store is given; use -s, as in -s sqlite:./queue.db, set SLUICE_STORE, or name one with `sluice config`',
    )
  }

  async addressIfNamed(): Promise<StoreAddress | undefined> {
    const text = this.#storeText()
    return text === undefined ? undefined : await this.#addressOf(text)
  }

  /** The address of the store: from an option, a variable or the current context, in this order. */
  #storeText(): string | undefined {
    const { input, terminal } = this
    const store = input.text('store')
    const context = input.text('context')
    if (store !== undefined && context !== undefined) {
      throw usageError('-s and --context both name a store; use one of them')
    }
    if (context !== undefined) return storeOfContext(terminal, context)
    if (store !== undefined) return store
    const { SLUICE_STORE: named = '' } = terminal.env
    if (named !== '') return named
    const { current } = readContexts(terminal)
    return current === undefined ? undefined : storeOfContext(terminal, current)
  }

  async #addressOf(text: string): Promise<StoreAddress> {
    const address = this.#parsed(text)
    await refuseMalformed(address)
    return address
  }

  #parsed(text: string): StoreAddress {
    const { cwd } = this.terminal
    if (!text.startsWith('@')) return this.#noted(text)
    const path = resolve(cwd, text.slice(1))
    try {
      return this.#noted(readFileSync(path, 'utf8'))
    } catch (error) {
      if (error instanceof CommandError) throw error
      throw usageError(`the file with the store address cannot be read: ${path}`, error)
    }
  }

  #noted(given: string): StoreAddress {
    const text = given.trim()
    this.secrets.addFrom(text)
    return parseStoreAddress(text, this.terminal.cwd)
  }

  async store(use: StoreUse, migrate: 'apply' | 'verify' = 'verify'): Promise<OpenStore> {
    return await this.#opened(await this.address(), use, migrate)
  }

  async storeAt(text: string, use: StoreUse): Promise<OpenStore> {
    return await this.#opened(await this.#addressOf(text), use, 'verify')
  }

  async #opened(
    address: StoreAddress,
    use: StoreUse,
    migrate: 'apply' | 'verify',
  ): Promise<OpenStore> {
    const warn = (message: string): void => {
      void this.print.warn(oneLine(this.secrets.redact(message)))
    }
    const store = await openStore(address, use, { migrate, warn })
    this.defer(() => store.inspection.close())
    return store
  }

  async confirm(what: string): Promise<boolean> {
    if (this.input.flag('yes')) return true
    if (!this.isInteractive) throw notConfirmedError(`${what} Re-run with --yes to confirm.`)
    const answer = await this.ask(`${what} Continue? [y/N] `)
    return /^y(?:es)?$/i.test(answer.trim())
  }

  get isInteractive(): boolean {
    return this.terminal.stdin.isTTY && this.terminal.stderr.isTTY
  }

  async ask(question: string): Promise<string> {
    await this.print.endProgress()
    await this.terminal.stderr.write(question)
    for await (const line of this.terminal.stdin.lines()) return line
    return ''
  }
}
