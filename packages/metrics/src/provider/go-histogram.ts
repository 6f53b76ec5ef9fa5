import { Histogram } from 'prom-client'

/** A number in the format of Go and Prometheus: `1e-08`, where JavaScript writes `1e-8`. */
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

/** A histogram whose bounds are formatted as in Go, because rules select buckets by that text. */
export class GoHistogram extends Histogram {
  /** The values from which prom-client creates all its exports. */
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
