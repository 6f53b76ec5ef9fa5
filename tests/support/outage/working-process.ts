import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { HoldUp } from '@sluice/needs/hold-ups'

/** One line that the process says; which members it has says what it is about. */
export interface Said {
  readonly at?: number
  readonly sentAt?: number
  readonly began?: string
  readonly lost?: string
  readonly added?: string
  readonly refused?: string
  readonly stopped?: string
  readonly delayed?: number
  readonly code?: string
  readonly report?: ProcessReport
  readonly heldUp?: HoldUp
}

/** Counts since the process began, but for the processor time, which is since the last report. */
export interface ProcessReport {
  readonly calls: Readonly<Record<string, number>>
  readonly codes: Readonly<Record<string, number>>
  /** Keys added with `addSoon`. */
  readonly added: number
  /** Connections that were asked for, refused ones included. */
  readonly connections: number
  readonly cpuMs: number
}

/** The lease of its keys. */
export const workingLeaseMs = 10_000

const program = fileURLToPath(new URL('../programs/working-process.ts', import.meta.url))

/** A process that works on a store, from outside. */
export class WorkingProcess {
  readonly said: Said[] = []
  readonly child: ChildProcess
  readonly #waiting = new Set<() => void>()

  constructor(address: string) {
    const flags = ['--conditions=sluice-source', '--disable-warning=ExperimentalWarning']
    this.child = spawn(process.execPath, [...flags, program, address], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    // EPIPE where it has ended, which its silence shows.
    this.child.stdin?.on('error', () => {})
    createInterface({ input: this.child.stdout! }).on('line', (line) => {
      this.said.push(JSON.parse(line))
      for (const look of this.#waiting) look()
    })
  }

  tell(line: string): void {
    this.child.stdin?.write(`${line}\n`)
  }

  /** The first thing said from `from` on that matches; `undefined` if none is said in time. */
  async hears(
    matches: (said: Said) => boolean,
    withinMs: number,
    from = 0,
  ): Promise<Said | undefined> {
    return await new Promise((resolve) => {
      const look = (): void => {
        const found = this.said.slice(from).find(matches)
        if (found !== undefined) done(found)
      }
      const done = (found: Said | undefined): void => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        resolve(found)
      }
      // real time: another process is waited for, which may never say it.
      const timer = setTimeout(() => done(undefined), withinMs)
      this.#waiting.add(look)
      look()
    })
  }

  async report(): Promise<ProcessReport> {
    const from = this.said.length
    this.tell('report')
    const said = await this.hears(({ report }) => report !== undefined, 240_000, from)
    if (said?.report === undefined) throw new Error('the process does not answer')
    return said.report
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    // Not its exit: that can be noticed before what it said last.
    const ended = new Promise((resolve) => this.child.once('close', resolve))
    this.child.stdin?.end('end\n')
    // real time: a process whose store is away may take its time.
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 30_000)
    await ended
    clearTimeout(timer)
  }
}
