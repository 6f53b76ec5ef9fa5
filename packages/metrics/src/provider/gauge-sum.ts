import type { SettableGaugeMetric } from './provider.ts'
import type { Series } from './series.ts'

/** A gauge with several parts, which shows their sum. It is dropped with the last part. */
export class GaugeSum {
  readonly #gauge: SettableGaugeMetric & Series
  readonly #onDrop: () => void
  readonly #values = new Map<object, number>()

  constructor(gauge: SettableGaugeMetric & Series, onDrop: () => void) {
    this.#gauge = gauge
    this.#onDrop = onDrop
  }

  /** One more part; 0 at first. */
  part(): SettableGaugeMetric & Series {
    const part = {
      set: (value: number): void => {
        this.#values.set(part, value)
        this.#show()
      },
      drop: (): void => {
        this.#values.delete(part)
        this.#show()
        if (this.#values.size > 0) return
        this.#gauge.drop()
        this.#onDrop()
      },
    }
    this.#values.set(part, 0)
    return part
  }

  #show(): void {
    let sum = 0
    for (const value of this.#values.values()) sum += value
    this.#gauge.set(sum)
  }
}
