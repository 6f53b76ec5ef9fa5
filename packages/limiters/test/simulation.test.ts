import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { contestants, keyCount, outageMs, picture, simulate } from '../scripts/simulate.ts'

const simulations = contestants.map(simulate)
const guide = new URL('../../../docs/guides/rate-limiting', import.meta.url)

test('the picture in the guide is the one the script draws', () => {
  expect(readFileSync(new URL(`${guide}.svg`), 'utf8')).toBe(picture(simulations))
})

test('the table in the guide says what the simulation says', () => {
  const page = readFileSync(new URL(`${guide}.md`), 'utf8')
  for (const { title, failures, busiestSecond, lastBackMs } of simulations) {
    const cells = [
      `\`${title}\``,
      failures.length.toLocaleString('en-US'),
      busiestSecond.toLocaleString('en-US'),
      `${Math.round((lastBackMs - outageMs) / 1_000).toLocaleString('en-US')} s`,
    ]
    expect(page).toContain(`| ${cells.join(' | ')} |`)
  }
})

test('by default, ten keys a second come back, and the last waits as long as all before', () => {
  const { failures, busiestSecond } = simulations[0]!
  const first = failures.slice(0, keyCount).map(({ delayMs }) => delayMs)
  expect(first.slice(0, 100)).toEqual(Array(100).fill(5))
  expect(first.at(-1)).toBe(990_000)
  expect(busiestSecond).toBe(10)
})
