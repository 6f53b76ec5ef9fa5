import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { Interrupted } from '../src/index.ts'
import { cli, type Ended } from './cli.ts'

/** A watching command on a clock that stands still. */
export class Watch {
  readonly clock: FakeClock = fakeClock()
  readonly ended: Promise<Ended>
  readonly #interruption = new AbortController()
  #out = ''
  #err = ''
  /** Gets the keys that are pressed; missing while the command reads none. */
  pressed: ((key: string) => void) | undefined

  constructor(argv: readonly string[], store: string, isTTY = false) {
    this.ended = cli(argv, {
      store,
      isTTY,
      // Wide enough for the address of a file in a long folder.
      columns: 400,
      clock: this.clock,
      interrupted: this.#interruption.signal,
      onKey: (pressed) => {
        this.pressed = pressed
        return () => {
          this.pressed = undefined
        }
      },
      onOut: (text) => {
        this.#out += text
      },
      onErr: (text) => {
        this.#err += text
      },
    })
  }

  /** The output since the last call; waits until the watch is idle. */
  async next(ms = 0): Promise<string> {
    return (await this.both(ms)).out
  }

  /** The same, with what it wrote to stderr. */
  async both(ms = 0): Promise<{ out: string; err: string }> {
    if (ms > 0) await this.clock.step(ms)
    // It sleeps until the clock is stepped.
    await Promise.race([this.clock.waitForWaiters(1), this.#endedEarly()])
    const said = { out: this.#out, err: this.#err }
    this.#out = ''
    this.#err = ''
    return said
  }

  async interrupt(): Promise<Ended> {
    this.#interruption.abort(new Interrupted('SIGINT'))
    return await this.ended
  }

  async #endedEarly(): Promise<never> {
    throw new Error(`the watch has ended: ${JSON.stringify(await this.ended)}`)
  }
}
