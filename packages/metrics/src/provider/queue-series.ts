import { GaugeSum } from './gauge-sum.ts'
import { type MetricId, metricTable } from './names.ts'
import type {
  CounterMetric,
  GaugeMetric,
  HistogramMetric,
  SettableGaugeMetric,
} from './provider.ts'
import type { Labels, Series, SeriesFactory } from './series.ts'

/** The series of each queue, which are dropped together. */
export class QueueSeries {
  readonly #factory: SeriesFactory
  readonly #controllers: Readonly<Record<string, string>>
  readonly #made = new Map<string, Series[]>()
  readonly #sums = new Map<string, GaugeSum>()

  constructor(factory: SeriesFactory, controllers: Readonly<Record<string, string>>) {
    this.#factory = factory
    this.#controllers = controllers
  }

  counter(id: MetricId, name: string, more?: Labels): CounterMetric {
    return this.#kept(name, this.#factory.counter(id, this.#labelsOf(id, name, more)))
  }

  gauge(id: MetricId, name: string, more?: Labels): GaugeMetric & SettableGaugeMetric {
    return this.#kept(name, this.#factory.gauge(id, this.#labelsOf(id, name, more)))
  }

  histogram(id: MetricId, name: string): HistogramMetric {
    return this.#kept(name, this.#factory.histogram(id, this.#labelsOf(id, name)))
  }

  /** A gauge without the name of the queue: queues with the same controller label add up. */
  gaugeOfController(id: MetricId, name: string): SettableGaugeMetric {
    const labels = this.#labelsOf(id, name)
    const key = JSON.stringify([id, labels])
    const sum =
      this.#sums.get(key) ??
      new GaugeSum(this.#factory.gauge(id, labels), () => this.#sums.delete(key))
    this.#sums.set(key, sum)
    return this.#kept(name, sum.part())
  }

  drop(name: string): void {
    for (const one of this.#made.get(name) ?? []) one.drop()
    this.#made.delete(name)
  }

  #kept<Made extends Series>(name: string, one: Made): Made {
    const others = this.#made.get(name)
    if (others === undefined) this.#made.set(name, [one])
    else others.push(one)
    return one
  }

  /** The labels of a metric, out of all labels of a queue. */
  #labelsOf(id: MetricId, name: string, more: Labels = {}): Labels {
    const controller = Object.hasOwn(this.#controllers, name)
      ? (this.#controllers[name] as string)
      : name
    const all: Labels = { name, controller, ...more }
    return Object.fromEntries(metricTable[id].labels.map((label) => [label, all[label] ?? '']))
  }
}
