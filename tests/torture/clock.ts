import { parseArgs } from 'node:util'
import { clockBounds } from '../support/clock/clock-bounds.ts'
import { type ClockStore, clockRun, clockSteps, clockStores } from '../support/clock/clock-run.ts'

/**
 * What each step of a clock does to each kind of key on each store: how late it runs in milliseconds,
 * below zero how early, and how often two processes were at work on it. `--store=sqlite`,
 * `--step="+1 h"` (default: all), `--at-once=3`.
 */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      store: { type: 'string' },
      step: { type: 'string' },
      'at-once': { type: 'string', default: '3' },
    },
  })
  const stores = values.store === undefined ? clockStores : [values.store as ClockStore]
  const steps = values.step === undefined ? Object.keys(clockSteps) : [values.step]
  const runs = stores.flatMap((store) => steps.map((step) => ({ store, step })))
  const rows: Record<string, string>[] = []
  const broken: string[] = []
  async function runNext(): Promise<void> {
    for (let run = runs.shift(); run !== undefined; run = runs.shift()) {
      const { store, step } = run
      const stepMs = clockSteps[step] ?? 0
      const cells = await clockRun(store, stepMs).catch((error: unknown) => String(error))
      if (typeof cells === 'string') {
        broken.push(`${store}, ${step}: ${cells}`)
        continue
      }
      const row: Record<string, string> = { store, step }
      for (const cell of cells) {
        const doubles = cell.doubles === 0 ? '' : `, ${cell.doubles} double`
        row[cell.state] = `${Math.round(cell.lateMs)}${doubles}`
      }
      rows.push(row)
      broken.push(...clockBounds(store, stepMs, cells).map((text) => `${store}, ${step}: ${text}`))
    }
  }
  await Promise.all(Array.from({ length: Number(values['at-once']) }, () => runNext()))
  const places = new Map(stores.map((store, at) => [store as string, at]))
  const order = (row: Record<string, string>): number =>
    (places.get(row['store'] ?? '') ?? 0) * steps.length + steps.indexOf(row['step'] ?? '')
  console.table(rows.sort((a, b) => order(a) - order(b)))
  if (broken.length > 0) throw new Error(broken.join('\n'))
}
