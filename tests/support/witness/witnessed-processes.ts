import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises' // real time: other processes
import { fileURLToPath } from 'node:url'
import { heldUpMs, monotonicNow, watchHoldUps } from '@sluice/needs/hold-ups'
import { removeSharedTime } from '@sluice/needs/stepped-clock'
import { type Line, type Record, readRecord, untilWritten } from './record.ts'

const program = fileURLToPath(new URL('../programs/witnessed-process.ts', import.meta.url))

/** Where Debian has the library that sets the wall clock of a single process. */
const faketime = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'

/** Whether the wall clock of a process can be set. */
export const canStep: boolean = existsSync(faketime)

interface Member {
  readonly name: string
  readonly child: ChildProcess
  readonly path: string
  readonly ended: Promise<number | null>
}

/** How long to wait for a process that is about to be killed to make an add, in milliseconds. */
const addingMsMax = 2_000

/** Whether the newest line of a process says that an add was sent. */
function isAdding({ path }: Member): boolean {
  if (!existsSync(path)) return false
  const line = readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? ''
  return line.includes('"what":"sent"')
}

/** Processes that work on one store, and what can be done to them. */
export class WitnessedProcesses {
  readonly #folder: string
  readonly #address: string
  readonly #members: Member[] = []
  readonly #former: Member[] = []
  readonly #own: Line[] = [{ what: 'process', at: 0, process: 'the program' }]
  readonly #clock: string
  readonly #unwatch = watchHoldUps(({ from, until }) =>
    this.#own.push({ what: 'stalled', at: until, ms: until - from }),
  )
  #started = 0
  /** Processes that ended without being ended. */
  readonly deaths: string[] = []

  constructor(folder: string, address: string, size: number) {
    this.#folder = folder
    this.#address = address
    this.#clock = join(folder, 'clock')
    writeFileSync(this.#clock, '+0s')
    for (let at = 0; at < size; at += 1) this.#start()
  }

  #start(): void {
    this.#started += 1
    const name = `process ${this.#started}`
    const path = join(this.#folder, `${this.#started}.record`)
    const flags = ['--conditions=sluice-source', '--disable-warning=ExperimentalWarning']
    const child = spawn(
      process.execPath,
      [...flags, program, this.#address, path, name, String(this.#started)],
      {
        stdio: ['pipe', 'inherit', 'inherit'],
        env: {
          ...process.env,
          ...(canStep && {
            LD_PRELOAD: faketime,
            FAKETIME_TIMESTAMP_FILE: this.#clock,
            FAKETIME_CACHE_DURATION: '1',
            FAKETIME_DONT_FAKE_MONOTONIC: '1',
          }),
        },
      },
    )
    // EPIPE where it has ended, which its exit shows.
    child.stdin?.on('error', () => {})
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    const member = { name, child, path, ended }
    this.#members.push(member)
    void ended.then((code) => {
      removeSharedTime()
      if (this.#members.includes(member)) this.deaths.push(`${name} ended with ${code}`)
    })
  }

  /** Waits until the store has acknowledged an add of every process. */
  async atWork(): Promise<void> {
    await this.#haveWritten('acknowledged')
  }

  /** Sets the wall clock of all processes. */
  setWallClock(aheadSeconds: number): void {
    writeFileSync(this.#clock, `${aheadSeconds < 0 ? '' : '+'}${aheadSeconds}s`)
  }

  /** Kills a process, in the middle of an add if it makes one soon, and starts another one. */
  async kill(index: number): Promise<void> {
    const [member] = this.#members.splice(index % this.#members.length, 1)
    if (member === undefined) return
    this.#former.push(member)
    const until = monotonicNow() + addingMsMax
    while (monotonicNow() < until && !isAdding(member)) await nextTurn()
    member.child.kill('SIGKILL')
    await member.ended
    this.#start()
  }

  /** Stops a process for a while, as a virtual machine does that is moved. */
  async pause(index: number, during: () => Promise<void>): Promise<void> {
    const member = this.#members[index % this.#members.length]
    if (member === undefined) return
    const at = monotonicNow()
    member.child.kill('SIGSTOP')
    await during()
    member.child.kill('SIGCONT')
    this.#own.push({ what: 'paused', at, until: monotonicNow(), process: member.name })
  }

  /**
   * Ends all adding of keys, and waits until each process has reached the store after that. One that is held
   * up would add more after it was told.
   */
  async stopAdding(): Promise<void> {
    for (const { child } of this.#members) child.stdin?.write('no more\n')
    await this.#haveWritten('added all')
  }

  async #haveWritten(what: Line['what']): Promise<void> {
    const isOver = (): boolean => this.deaths.length > 0
    for (const { path } of this.#members) await untilWritten(path, what, isOver)
  }

  /** Ends all processes in order; says how long the slowest took, but for what held them up. */
  async end(): Promise<number> {
    const from = monotonicNow()
    const members = this.#members.splice(0)
    this.#former.push(...members)
    for (const { child } of members) child.kill('SIGTERM')
    await Promise.all(members.map(({ ended }) => ended))
    this.#unwatch()
    const until = monotonicNow()
    const holdUps = this.records().flatMap((record) =>
      record.flatMap((line) =>
        line.what === 'held up' || line.what === 'stalled'
          ? [{ from: line.at - line.ms, until: line.at }]
          : [],
      ),
    )
    return until - from - heldUpMs(holdUps, from, until)
  }

  /** Ends all processes that still run, however a run went. */
  abandon(): void {
    this.#unwatch()
    for (const { child } of this.#members.splice(0)) child.kill('SIGKILL')
  }

  records(): Record[] {
    const written = this.#former.filter(({ path }) => existsSync(path))
    return [...written.map(({ path }) => readRecord(readFileSync(path, 'utf8'))), this.#own]
  }
}
