import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Record, readRecord, untilWritten } from '../witness/record.ts'

/** What a process is started with. */
export interface FailoverProcessOptions {
  readonly url: string
  /** The file of its record. */
  readonly path: string
  readonly name: string
  /** Whether it has a worker too. */
  readonly isWorking: boolean
  readonly keysPerSecond: number
  readonly leaseMs: number
  /** How many replicas must have a write before it is acknowledged. */
  readonly replicas: number
}

/** A record, and whether its process was killed. */
export interface MemberRecord {
  readonly record: Record
  readonly wasKilled: boolean
}

interface Member {
  readonly name: string
  readonly path: string
  readonly child: ChildProcess
  readonly ended: Promise<number | null>
  wasKilled: boolean
}

/** How long processes may take until they are at work, in milliseconds: it only ends what hangs. */
const atWorkMsMax = 300_000

/** A process that works with Sluice. */
const sluiceProgram = fileURLToPath(new URL('../programs/failover-process.ts', import.meta.url))

/** Processes that add keys and work on them while their servers fail. */
export class FailoverProcesses {
  readonly #folder: string
  readonly #shared: Omit<FailoverProcessOptions, 'path' | 'name' | 'isWorking'>
  readonly #program: string
  readonly #members: Member[] = []
  /** Processes that ended without being ended. */
  readonly deaths: string[] = []

  /** `program` is the file of another program that writes such records. */
  constructor(
    folder: string,
    shared: Omit<FailoverProcessOptions, 'path' | 'name' | 'isWorking'>,
    program = sluiceProgram,
  ) {
    this.#program = program
    this.#folder = folder
    this.#shared = shared
  }

  start(isWorking: boolean): void {
    const name = `p${this.#members.length + 1}`
    const path = join(this.#folder, `${name}.record`)
    const options: FailoverProcessOptions = { ...this.#shared, path, name, isWorking }
    const flags = ['--conditions=sluice-source', '--disable-warning=ExperimentalWarning']
    const child = spawn(process.execPath, [...flags, this.#program, JSON.stringify(options)], {
      stdio: ['pipe', 'inherit', 'inherit'],
    })
    // EPIPE where it has ended, which its exit shows.
    child.stdin?.on('error', () => {})
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    const member: Member = { name, path, child, ended, wasKilled: false }
    this.#members.push(member)
    void ended.then((code) => {
      if (!member.wasKilled && code !== 0) this.deaths.push(`${name} ended with ${code}`)
    })
  }

  /** Waits until every process that lives has had so many adds acknowledged since the call. */
  async atWork(adds: number): Promise<void> {
    const living = this.#members.filter(({ wasKilled }) => !wasKilled)
    const from = living.map(({ path }) => (existsSync(path) ? statSync(path).size : 0))
    const until = performance.now() + atWorkMsMax
    for (const [index, { path, name }] of living.entries()) {
      let [at, found] = [from[index] ?? 0, 0]
      for (;;) {
        const text = existsSync(path) ? readFrom(path, at) : ''
        // The last line may be incomplete.
        const whole = text.slice(0, text.lastIndexOf('\n') + 1)
        at += whole.length
        found += whole.split('"what":"acknowledged"').length - 1
        if (found >= adds) break
        if (performance.now() > until) throw new Error(`${name} is not at work`)
        await new Promise((resolve) => {
          // real time: another process is at work.
          setTimeout(resolve, 50)
        })
      }
    }
  }

  /** Kills the process that was started last. */
  killLast(): void {
    const member = this.#members.at(-1)
    if (member === undefined) return
    member.wasKilled = true
    member.child.kill('SIGKILL')
  }

  /** Ends all adding of keys. A process that is held up would add more after it was told. */
  async stopAdding(): Promise<void> {
    const living = this.#members.filter(({ wasKilled }) => !wasKilled)
    for (const { child } of living) child.stdin?.write('end\n')
    for (const { path } of living)
      await untilWritten(path, 'added all', () => this.deaths.length > 0)
  }

  /** Ends all processes in order. */
  async end(): Promise<void> {
    for (const { child } of this.#members) child.kill('SIGTERM')
    await Promise.all(this.#members.map(({ ended }) => ended))
  }

  /** Ends whatever still runs, however a run went. */
  abandon(): void {
    for (const { child } of this.#members) child.kill('SIGKILL')
  }

  records(): MemberRecord[] {
    return this.#members
      .filter(({ path }) => existsSync(path))
      .map(({ path, wasKilled }) => ({
        record: readRecord(readFileSync(path, 'utf8')),
        wasKilled,
      }))
  }
}

/** The text of a file from a position on; records are of one-byte characters. */
function readFrom(path: string, position: number): string {
  const bytes = Buffer.alloc(statSync(path).size - position)
  const file = openSync(path, 'r')
  try {
    return bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, position))
  } finally {
    closeSync(file)
  }
}
