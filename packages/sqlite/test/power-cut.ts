import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { OtherProcess, Subject } from '@sluice/conformance'
import { forkDriver } from '@sluice/conformance/other-process'
import { fakeClock } from '@sluice/core/testing'
import { needs } from '@sluice/needs'
import { bundled } from '@sluice/needs/bundled'
import type { Durability, LibraryName } from '@sluice/sqlite'

/** Serves a driver on the file that its last argument names. */
export const servedDriver: URL = new URL('children/served-driver.ts', import.meta.url)

const nodeFlags = ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings']

/** Every call that changes a file of the store, or makes a change durable. */
const calls = 'pwrite64,ftruncate,fsync,fdatasync,link,rename,unlink'

/** Whether what a process writes and syncs can be watched here. */
export const canCutPower: boolean = needs(
  'strace',
  spawnSync('strace', ['-V'], { stdio: 'ignore' }).status === 0,
)

/** Starts a process that opens `file`. */
export async function forkSqlite(
  file: string,
  library: LibraryName,
  durability: Durability,
): Promise<OtherProcess> {
  const program = await bundled(servedDriver)
  return await forkDriver(program, [library, durability, file], { execArgv: nodeFlags })
}

/** How often the log of the tracer is read until it is whole, and how long between two looks. */
const looksMax = 6_000
const lookMs = 10

type Change = (before: Buffer) => Buffer

/**
 * The files of a store, as a disk keeps them that loses what was not synced, but for the writes that
 * `isKept` says reached it all the same. Names of files are durable at once, what is in them is not.
 */
class Disk {
  readonly #isKept: () => boolean
  readonly #durable = new Map<string, Buffer>()
  readonly #pending = new Map<string, Change[]>()

  constructor(isKept: () => boolean) {
    this.#isKept = isKept
  }

  /** Replays what `strace` saw a process do in `folder`. */
  replay(log: string, folder: string): void {
    for (const line of log.split('\n')) {
      const [, name = '', args = '', result] = /^\d+ +(\w+)\((.*)\) = (-?\d+)/.exec(line) ?? []
      if (result === undefined || Number(result) < 0) continue
      const paths = [...args.matchAll(/[<"]([^>"]*)[>"]/g)].map(([, hex = '']) => bytesOf(hex))
      const [path = '', other = ''] = paths.map((bytes) => bytes.toString())
      if (dirname(path) === folder) this.#call(name, basename(path), basename(other), args)
    }
  }

  #call(name: string, file: string, other: string, args: string): void {
    if (file.endsWith('-shm')) return
    if (name === 'link' || name === 'rename') {
      this.#durable.set(other, this.#durable.get(file) ?? Buffer.alloc(0))
      this.#pending.set(other, this.#pending.get(file) ?? [])
    }
    if (name === 'unlink' || name === 'rename') {
      this.#durable.delete(file)
      this.#pending.delete(file)
    }
    if (name === 'fsync' || name === 'fdatasync') {
      const before = this.#durable.get(file) ?? Buffer.alloc(0)
      const changes = this.#pending.get(file) ?? []
      this.#durable.set(
        file,
        changes.reduce((bytes, change) => change(bytes), before),
      )
      this.#pending.delete(file)
    }
    if (name === 'ftruncate') {
      const length = Number(/, (\d+)$/.exec(args)?.[1])
      this.#change(file, (before) => resized(before, length))
    }
    if (name === 'pwrite64') {
      const [, text = '', place] = /, "([^"]*)", \d+, (\d+)$/.exec(args) ?? []
      const bytes = bytesOf(text)
      this.#change(file, (before) => {
        const after = resized(before, Math.max(before.length, Number(place) + bytes.length))
        bytes.copy(after, Number(place))
        return after
      })
    }
  }

  #change(file: string, change: Change): void {
    const pending = this.#pending.get(file) ?? []
    pending.push(change)
    this.#pending.set(file, pending)
  }

  /** Writes what is durable into a folder, from where the next process goes on. */
  restore(folder: string): void {
    for (const [file, changes] of this.#pending) {
      const before = this.#durable.get(file) ?? Buffer.alloc(0)
      const kept = changes.filter(this.#isKept)
      this.#durable.set(
        file,
        kept.reduce((bytes, change) => change(bytes), before),
      )
    }
    this.#pending.clear()
    for (const [file, bytes] of this.#durable) writeFileSync(join(folder, file), bytes)
  }
}

/** Bytes as `strace -xx` writes them. */
function bytesOf(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex')
}

function resized(before: Buffer, length: number): Buffer {
  const after = Buffer.alloc(length)
  before.copy(after)
  return after
}

/**
 * A subject whose driver runs in a process that `strace` watches. A power cut kills the process, and
 * leaves of its files what it had synced.
 */
export async function onDisk(
  module: URL | string,
  args: readonly string[],
  isKept: () => boolean = () => false,
): Promise<Subject & Required<Pick<Subject, 'cutPower' | 'dispose'>>> {
  const place = mkdtempSync(join(tmpdir(), 'sluice-power-'))
  const disk = new Disk(isKept)
  let runs = 0
  let running: { readonly other: OtherProcess; readonly log: string; readonly folder: string }
  const start = async (): Promise<OtherProcess> => {
    runs += 1
    const folder = join(place, `run ${runs}`)
    mkdirSync(folder)
    disk.restore(folder)
    const file = join(folder, 'queue.db')
    const log = join(place, `run ${runs}.log`)
    const strace = [
      '-D',
      '-f',
      '--seccomp-bpf',
      '-xx',
      '-y',
      '-s',
      '100000000',
      '-o',
      log,
      '-e',
      `trace=${calls}`,
    ]
    const other = await forkDriver(module, [...args, file], {
      execPath: 'strace',
      execArgv: [...strace, process.execPath, ...nodeFlags],
    })
    running = { other, log, folder }
    return other
  }
  const first = await start()
  return {
    driver: first.driver,
    clock: fakeClock(),
    async cutPower() {
      const { other, log, folder } = running
      await other.kill()
      disk.replay(await wholeLog(log), folder)
      return (await start()).driver
    },
    restart: () => Promise.reject(new Error('only the power is cut here')),
    async dispose() {
      await running.other.kill()
      rmSync(place, { recursive: true, force: true })
    },
  }
}

/** The log once the tracer has seen the process end. */
async function wholeLog(log: string): Promise<string> {
  for (let look = 0; look < looksMax; look += 1) {
    const text = existsSync(log) ? readFileSync(log, 'latin1') : ''
    const threads = new Set(text.match(/^\d+/gm))
    const ended = text.match(/^\d+ +\+\+\+ .* \+\+\+$/gm)?.length ?? 0
    if (ended > 0 && ended >= threads.size) return text
    // real time: the tracer is a process of its own, which says nothing when it ends
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
  throw new Error(`the tracer did not see the process end: ${log}`)
}
