import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { sqliteDriver } from '@sluice/sqlite'
import { onTestFinished, test } from 'vitest'
import { scratchFile } from './scratch.ts'

const execArgv = ['--conditions=sluice-source', '--disable-warning=ExperimentalWarning']
const heartbeats = 25

for (const many of [2, 4]) {
  test(`${many} processes that wait for keys do not wake each other`, async () => {
    const file = scratchFile()
    const driver = sqliteDriver({ file, durability: 'process' })
    await driver.open({})
    await driver.close()
    const program = new URL('children/idle-worker.ts', import.meta.url)
    const children = Array.from({ length: many }, (_, nth) => {
      const child = fork(program, [file, `process ${nth}`, String(heartbeats)], { execArgv })
      onTestFinished(() => {
        child.disconnect()
      })
      return child
    })
    await Promise.all(children.map((child) => once(child, 'message')))
    const counts = await Promise.all(
      children.map(async (child) => {
        child.send('begin')
        const [{ wakes }] = (await once(child, 'message')) as [{ wakes: number }]
        return wakes
      }),
    )
    assert.ok(
      counts.every((wakes) => wakes === 0),
      `woken ${counts.join(', ')} times by ${heartbeats * (many - 1)} heartbeats`,
    )
  })
}
