import type { Clock, Driver } from '@sluice/core'
import type { Subject } from '../case.ts'

/**
 * The open drivers and the stores of one case.
 *
 * A case that is past its time limit keeps running. Whatever it opens or creates after the end is
 * closed or removed at once, so that it leaves nothing behind.
 */
export class CaseResources {
  readonly #opened = new Set<Driver>()
  readonly #subjects: Subject[] = []
  #hasEnded = false

  /** Opens a driver, which is closed with the case. */
  async open(driver: Driver, clock: Clock): Promise<void> {
    this.#checkRunning()
    await driver.open({ clock })
    if (this.#hasEnded) await driver.close()
    this.#checkRunning()
    this.#opened.add(driver)
  }

  /** Does not close the driver with the case: it is closed, or its process has ended. */
  release(driver: Driver): void {
    this.#opened.delete(driver)
  }

  /** Takes a subject, the store of which is removed with the case. */
  async own(subject: Subject): Promise<void> {
    if (this.#hasEnded) await subject.dispose?.()
    this.#checkRunning()
    this.#subjects.push(subject)
  }

  /** Closes the drivers whose store lost its power, which may fail. */
  async closeBroken(): Promise<void> {
    for (const driver of this.#opened) await Promise.resolve(driver.close()).catch(() => {})
    this.#opened.clear()
  }

  /** Closes every driver and removes every store, also after one of these has failed. */
  async end(): Promise<void> {
    this.#hasEnded = true
    const errors: unknown[] = []
    const closings = [...this.#opened].map((driver) => async () => await driver.close())
    const disposals = this.#subjects.map((subject) => async () => await subject.dispose?.())
    this.#opened.clear()
    for (const end of [...closings, ...disposals]) {
      await end().catch((error: unknown) => errors.push(error))
    }
    if (errors.length > 0) throw errors[0]
  }

  #checkRunning(): void {
    if (this.#hasEnded) throw new Error('the case has ended; it can open and create nothing more')
  }
}
