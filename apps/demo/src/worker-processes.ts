import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'

/** What a worker process tells: an error, or a run that begins, of a key that came back so often. */
export type WorkerMessage =
  | { readonly error: string }
  | { readonly run: string; readonly crashes: number }

/** What a worker process of the demo is made of. */
interface WorkerProcessOptions {
  readonly name: string
  /** The arguments of its program. */
  readonly args: readonly string[]
  say(text: string): void
  onRun(key: string, crashes: number): void
}

/** A worker in a process of its own, which is started again when it was killed. */
export class WorkerProcess {
  readonly #options: WorkerProcessOptions
  #child: ChildProcess | undefined
  #ended: Promise<void> = Promise.resolve()
  #isStopping = false
  #killsNextRun = false

  constructor(options: WorkerProcessOptions) {
    this.#options = options
  }

  start(): void {
    const { name, args, say } = this.#options
    const child = fork(join(import.meta.dirname, 'worker-process.ts'), [...args], {
      execArgv: [...process.execArgv],
    })
    this.#child = child
    this.#ended = new Promise((resolve) => {
      child.once('exit', () => {
        resolve()
        if (this.#isStopping) return
        say(`${name} is started again`)
        this.start()
      })
    })
    child.on('message', (message) => {
      const told = message as WorkerMessage
      if ('error' in told) say(`${name}: ${told.error}`)
      else this.#ran(child, told.run, told.crashes)
    })
  }

  #ran(child: ChildProcess, key: string, crashes: number): void {
    const { name, say, onRun } = this.#options
    onRun(key, crashes)
    if (!this.#killsNextRun) return
    this.#killsNextRun = false
    say(`${name} is killed while it holds a key`)
    child.kill('SIGKILL')
  }

  /** Kills the process as soon as it has taken another key. */
  killAtWork(): void {
    this.#killsNextRun = true
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#child?.kill('SIGTERM')
    await this.#ended
  }
}
