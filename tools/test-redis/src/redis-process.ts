import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { needs } from '@sluice/needs'
import type { SteppedClock } from '@sluice/needs/stepped-clock'
import { AdminConnection, type Reply } from './admin-connection.ts'
import { until } from './until.ts'

/** How a process of Redis is started. */
export interface RedisProcessOptions {
  readonly port: number
  /** The address that it listens on and connects from. Default: 127.0.0.1. */
  readonly host?: string
  /** Lines of its configuration, after the usual ones. */
  readonly settings?: readonly string[]
  /** The password that the settings demand. */
  readonly password?: string
  readonly clock?: SteppedClock | undefined
  /** Other files of its folder. */
  readonly files?: Readonly<Record<string, string>>
  /** Whether it is a Sentinel. */
  readonly isSentinel?: boolean
}

/** Nothing is saved unless a setting says so, and a replica begins to synchronize at once. */
const usual = [
  'save ""',
  'appendonly no',
  'repl-diskless-sync yes',
  'repl-diskless-sync-delay 0',
  'enable-debug-command yes',
  'protected-mode no',
]

/** What a program says of its version; undefined if it is not installed. */
function versionOf(program: string): string | undefined {
  const { error, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  return error === undefined ? stdout : undefined
}

function found(program: string): boolean {
  return versionOf(program) !== undefined
}

const version = versionOf('redis-server')

/** Whether `redis-server` is installed: Redis, or Valkey under that name. */
export const hasRedis: boolean = needs('redis-server', version !== undefined)

/**
 * Whether nodes of a cluster know a primary and its replicas by an id that they share. Servers after Redis 7.0 end
 * with a failed assertion if the file of the nodes, which a test writes, does not have it.
 */
export const hasShardIds: boolean = version !== undefined && !/ v=7\.0\./.test(version)

/**
 * Where there is `setpriv`, the system kills the server together with the process that started it,
 * however that one ends.
 */
const pathTo = found('setpriv') ? ['setpriv', '--pdeathsig', 'KILL'] : []

/**
 * The memory allocator of Redis reads the clock while libfaketime asks it for memory, and neither would
 * return; the allocator of libc does not.
 */
function environmentOf(clock: SteppedClock | undefined): Readonly<Record<string, string>> {
  if (clock === undefined) return {}
  return { ...clock.env, LD_PRELOAD: `${clock.env['LD_PRELOAD']}:libc.so.6` }
}

/** Whether a process has ended, also by a signal, as of a system that is out of memory. */
function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

const running = new Set<ChildProcess>()
let isWatching = false

function killWithParent(child: ChildProcess): void {
  running.add(child)
  child.once('exit', () => running.delete(child))
  if (isWatching) return
  isWatching = true
  process.once('exit', () => {
    for (const one of running) one.kill('SIGKILL')
  })
}

/** One process of Redis, with a folder and a port of its own. */
export class RedisProcess {
  readonly port: number
  readonly host: string
  /** The folder of its data, which is deleted by {@link RedisProcess.dispose}. */
  readonly folder: string
  readonly #options: RedisProcessOptions
  #child: ChildProcess | undefined
  #admin: AdminConnection | undefined

  private constructor(options: RedisProcessOptions) {
    const { port, host = '127.0.0.1', settings = [], files = {}, isSentinel = false } = options
    this.#options = options
    this.port = port
    this.host = host
    this.folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'))
    const address = [`port ${port}`, `bind ${host}`, `dir "${this.folder}"`]
    const lines = [...address, ...(isSentinel ? ['protected-mode no'] : usual), ...settings]
    writeFileSync(join(this.folder, 'redis.conf'), `${lines.join('\n')}\n`)
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.folder, name), text)
  }

  /** Starts a process, and waits until it answers. */
  static async start(options: RedisProcessOptions): Promise<RedisProcess> {
    const made = new RedisProcess(options)
    try {
      await made.start()
    } catch (error) {
      await made.dispose()
      throw error
    }
    return made
  }

  get url(): string {
    return `redis://${this.host}:${this.port}`
  }

  get #logPath(): string {
    return join(this.folder, 'redis.log')
  }

  /** What it has logged so far. */
  log(): string {
    return readFileSync(this.#logPath, 'utf8')
  }

  /** Whether it was started, and neither stopped nor killed. It may be paused. */
  get isRunning(): boolean {
    return this.#child !== undefined && !hasEnded(this.#child)
  }

  get pid(): number {
    const pid = this.#child?.pid
    if (pid === undefined) throw new Error(`the Redis on port ${this.port} does not run`)
    return pid
  }

  /** Starts it again on the same data and port. */
  async start(): Promise<void> {
    const { clock, isSentinel = false } = this.#options
    const program = ['redis-server', join(this.folder, 'redis.conf')]
    if (isSentinel) program.push('--sentinel')
    const [command = '', ...args] = [...pathTo, ...program]
    const log = openSync(this.#logPath, 'a')
    const child = spawn(command, args, {
      // A file and not a pipe, which would keep this process alive.
      stdio: ['ignore', log, log],
      env: { ...process.env, ...environmentOf(clock) },
    })
    closeSync(log)
    killWithParent(child)
    this.#child = child
    await until(`starting Redis on port ${this.port}`, async () => {
      if (hasEnded(child)) return true
      await this.command('PING')
      // Not that of another test, which may have taken the port first.
      return (await this.info('config_file')) === join(this.folder, 'redis.conf')
    })
    if (hasEnded(child)) {
      throw new Error(`Redis did not start on port ${this.port}:\n${this.log()}`)
    }
    // A test that ends without a stop is not kept alive by it.
    child.unref()
  }

  /** Sends a command over the admin connection, which is opened again after it was lost. */
  async command(...args: readonly (string | number)[]): Promise<Reply> {
    if (this.#admin?.isOpen !== true) {
      this.#admin = new AdminConnection(this.port, this.host)
      const { password } = this.#options
      if (password !== undefined) await this.#admin.send(['AUTH', password])
    }
    return await this.#admin.send(args)
  }

  /** A field of `INFO`. */
  async info(field: string): Promise<string> {
    const text = String(await this.command(this.#nameOf('INFO'), 'everything'))
    return new RegExp(`^${field}:(.*)\r?$`, 'm').exec(text)?.[1]?.trim() ?? ''
  }

  /** What the settings have renamed a command to. */
  #nameOf(command: string): string {
    const line = this.#options.settings?.find((one) => one.startsWith(`rename-command ${command} `))
    return line?.split(' ')[2] ?? command
  }

  /** The CPU time that the process has used, in milliseconds. */
  async cpuMs(): Promise<number> {
    const user = await this.info('used_cpu_user')
    const system = await this.info('used_cpu_sys')
    return (Number(user) + Number(system)) * 1_000
  }

  /** Kills the process; connections are reset by the system. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** Stops the process in order. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM')
  }

  /** The process does nothing until {@link RedisProcess.resume}; its connections stay open. */
  pause(): void {
    process.kill(this.pid, 'SIGSTOP')
  }

  /** The opposite of {@link RedisProcess.pause}. */
  resume(): void {
    process.kill(this.pid, 'SIGCONT')
  }

  /** Kills the process and deletes its data. */
  async dispose(): Promise<void> {
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    this.#admin?.close()
    this.#admin = undefined
    this.#child = undefined
    if (child === undefined || hasEnded(child)) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.ref()
    child.kill(signal)
    await ended
  }
}
