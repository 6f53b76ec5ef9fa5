import { SluiceError } from '@sluice/core'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { nextTurn } from '../support/late-driver.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { late, Scene } from '../support/setups.ts'

describe('errors without a listener', () => {
  test('are one line on stderr, once a minute for each code', async () => {
    const time = fakeRealTime()
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => {
      write.mockRestore()
    })
    const scene = new Scene(late)
    scene.late.before = async ({ verb }) => {
      await nextTurn()
      if (verb === 'open') throw new SluiceError('ERR_STORE', 'no such\n  directory')
    }
    const queues = [1, 2, 3].map(() =>
      scene.queue({ onError: undefined as never, logger: undefined as never }),
    )
    for (const queue of queues) void queue.get()
    await time.pass(59_000)
    expect(write.mock.calls.map(([line]) => line)).toEqual([
      'sluice: queue "q": no such directory [ERR_STORE]\n',
    ])
    await time.pass(10_000)
    expect(write).toHaveBeenCalledTimes(2)
    scene.late.before = nextTurn
  })
})
