import { Histogram } from 'prom-client'

/** A number as Go and Prometheus write it: `1e-08`, where JavaScript writes `1e-8`. */
function goNumber(value: number): string {
  const [mantissa, exponent] = value.toExponential().split('e')
  const power = Number(exponent)
  if (power >= -4 && power < 6) return String(value)
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

interface Exported {
  values: { labels: Readonly<Record<string, string | number | undefined>> }[]
}

interface Exporter {
  getForPromString(): Promise<Exported>
}

/** A histogram whose bounds are written as Go writes them: rules select buckets by that text. */
export class GoHistogram extends Histogram {
  /** What prom-client makes all its exports of. */
  async getForPromString(): Promise<Exported> {
    const exporter = Histogram.prototype as unknown as Exporter
    const exported = await exporter.getForPromString.call(this)
    for (const value of exported.values) {
      const { le } = value.labels
      if (typeof le === 'number') value.labels = { ...value.labels, le: goNumber(le) }
    }
    return exported
  }
}
