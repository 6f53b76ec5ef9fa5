import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** What one process did in a window of time. */
export interface IdleReport {
  readonly calls: Readonly<Record<string, number>>
  readonly runs: number
  readonly cpuMs: number
  /** Calls of `fsync` and `fdatasync` for the file; 0 where the store is not a file. */
  readonly syncs: number
}

const program = fileURLToPath(new URL('../programs/waiting-worker.ts', import.meta.url))

/** A process that waits for keys, and reports what it does meanwhile. */
export class IdleProcess {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>
  readonly #input: Interface
  readonly #trace: string | undefined
  #syncsBefore = 0

  /** With `trace`, the path of a file to write to, system calls that sync are counted. */
  constructor(address: string, trace?: string) {
    const node = [
      process.execPath,
      '--conditions=sluice-source',
      '--disable-warning=ExperimentalWarning',
      program,
      address,
    ]
    const paths = [address, `${address}-wal`].flatMap((path) => ['-P', path])
    const tracer = ['strace', '-f', '-qq', '--seccomp-bpf', '-e', 'trace=fsync,fdatasync']
    const [command = '', ...args] =
      trace === undefined ? node : [...tracer, '-o', trace, ...paths, ...node]
    this.#trace = trace
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    // EPIPE where it has ended, which its output shows.
    this.#child.stdin?.on('error', () => {})
    this.#input = createInterface({ input: this.#child.stdout! })
    this.#lines = this.#input[Symbol.asyncIterator]()
  }

  /** Adds a key, or with `report` only asks what happened since the last call. */
  async ask(line: string): Promise<IdleReport> {
    this.#child.stdin?.write(`${line}\n`)
    const { value, done } = await this.#lines.next()
    if (done === true) throw new Error('the process has ended')
    const syncs = this.#syncs()
    const report = { ...JSON.parse(value), syncs: syncs - this.#syncsBefore }
    this.#syncsBefore = syncs
    return report
  }

  async end(): Promise<void> {
    const { exitCode, signalCode } = this.#child
    if (exitCode === null && signalCode === null) {
      const ended = new Promise((resolve) => this.#child.once('exit', resolve))
      this.#child.stdin?.end('end\n')
      await ended
    }
    this.#input.close()
  }

  #syncs(): number {
    if (this.#trace === undefined || !existsSync(this.#trace)) return 0
    return readFileSync(this.#trace, 'utf8')
      .split('\n')
      .filter((line) => /sync\(/.test(line)).length
  }
}
