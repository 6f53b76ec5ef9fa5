/** Who is told, when, and by what: each step is the fake clock's. */
import { SluiceError } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { expect, test } from 'vitest'
import { WakeSignal } from '../../src/notices/wake-signal.ts'

function belfry(sendsNotices = true) {
  const clock = fakeClock()
  const sent: string[] = []
  const heard: (string | undefined)[] = []
  let held: Promise<void> | undefined
  const wakeSignal = new WakeSignal({
    environment: { clock, random: () => 0 },
    channel: 'sluice_x',
    send: async (payload) => {
      if (held !== undefined) await held
      sent.push(payload.slice(1))
    },
    sendsNotices,
  })
  wakeSignal.watch((queue) => void heard.push(queue))
  /** From now on nothing is sent until the answer is called. */
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    held = promise
    return resolve
  }
  return { clock, sent, heard, wakeSignal, hold }
}

test('the first wake is sent at once, and those that follow closely as one notice', async () => {
  const { clock, sent, heard, wakeSignal } = belfry()
  for (let nth = 0; nth < 5; nth += 1) wakeSignal.wake('q')
  await clock.step(9)
  expect(sent).toEqual(['q'])
  expect(heard).toEqual(['q', 'q', 'q', 'q', 'q'])
  await clock.step(1)
  expect(sent).toEqual(['q', 'q'])
  wakeSignal.wake('q')
  await clock.step(9)
  expect(sent).toEqual(['q', 'q'])
  await clock.step(1)
  expect(sent).toEqual(['q', 'q', 'q'])
  await clock.step(1_000)
  expect(sent).toEqual(['q', 'q', 'q'])
})

test('a change carries the notice if none was sent lately', async () => {
  const { clock, sent, heard, wakeSignal } = belfry()
  expect(wakeSignal.takeNotice('q')).toEqual({ channel: 'sluice_x', payload: 'qq' })
  wakeSignal.wakeHere('q')
  // Another queue has a notice of its own.
  expect(wakeSignal.takeNotice('other')).toEqual({ channel: 'sluice_x', payload: 'qother' })
  expect(wakeSignal.takeNotice('q')).toBeUndefined()
  await clock.step(1_000)
  expect(sent).toEqual([])
  expect(heard).toEqual(['q'])
  expect(wakeSignal.takeNotice('q')).toEqual({ channel: 'sluice_x', payload: 'qq' })
})

test('a wake that comes while a change carries the notice is sent, whatever the outcome of the change', async () => {
  const { clock, sent, wakeSignal } = belfry()
  wakeSignal.takeNotice('q')
  wakeSignal.wake('q')
  wakeSignal.returnNotice('q')
  await clock.step(10)
  expect(sent).toEqual(['q'])
})

test('a notice that waits for its turn can be sent at once, and is sent once', async () => {
  const { clock, sent, wakeSignal } = belfry()
  wakeSignal.takeNotice('q')
  wakeSignal.wake('q')
  wakeSignal.wake('other')
  await wakeSignal.flush()
  expect(sent).toEqual(['other', 'q'])
  await clock.step(1_000)
  expect(sent).toEqual(['other', 'q'])
})

test('a notice under way is waited for, and wakes that come meanwhile are sent, too', async () => {
  const { sent, wakeSignal, hold } = belfry()
  const letGo = hold()
  wakeSignal.wake('q')
  let isOver = false
  const telling = wakeSignal.flush().then(() => {
    isOver = true
  })
  await Promise.resolve()
  expect([sent, isOver]).toEqual([[], false])
  wakeSignal.wake('q')
  wakeSignal.wake('q')
  letGo()
  await telling
  expect(sent).toEqual(['q', 'q', 'q'])
})

test('after a notice stood in the way of a change, changes carry none for a while; each notice is sent alone', async () => {
  const { clock, sent, wakeSignal } = belfry()
  wakeSignal.takeNotice('q')
  wakeSignal.suspendNotices()
  expect(wakeSignal.takeNotice('other')).toBeUndefined()
  wakeSignal.wake('other')
  await clock.step(0)
  expect(sent).toEqual(['other'])
  await clock.step(20_000)
  wakeSignal.suspendNotices()
  await clock.step(29_999)
  expect(wakeSignal.takeNotice('q')).toBeUndefined()
  await clock.step(1)
  expect(wakeSignal.takeNotice('q')).toEqual({ channel: 'sluice_x', payload: 'qq' })
})

test('a change with an unknown outcome is announced', async () => {
  const { sent, wakeSignal } = belfry()
  const unknown = new SluiceError('ERR_UNKNOWN_OUTCOME', 'the line went dead')
  const known = new SluiceError('ERR_STORE', 'no')
  const seen: string[] = []
  const after = (queue: string, change: Promise<readonly object[]>): Promise<unknown> =>
    wakeSignal.wakeIfUnknown(queue, change, () => void seen.push(queue)).catch((error) => error)
  expect(await after('none', Promise.reject(known))).toBe(known)
  await after('known', Promise.resolve([{ outcome: 'failed', error: known }]))
  expect(await after('whole', Promise.reject(unknown))).toBe(unknown)
  await after(
    'part',
    Promise.resolve([{ outcome: 'ready' }, { outcome: 'failed', error: unknown }]),
  )
  expect(sent).toEqual(['whole', 'part'])
  expect(seen).toEqual(['whole', 'part'])
})

test('a change that has come to nothing leaves the notice to the next one', async () => {
  const { sent, wakeSignal } = belfry()
  wakeSignal.takeNotice('q')
  wakeSignal.returnNotice('q')
  expect(wakeSignal.takeNotice('q')).toEqual({ channel: 'sluice_x', payload: 'qq' })
  wakeSignal.returnNotice('q')
  wakeSignal.wake('q')
  expect(sent).toEqual(['q'])
})

test('without notices, watchers of this driver are woken', async () => {
  const { clock, sent, heard, wakeSignal } = belfry(false)
  expect(wakeSignal.takeNotice('q')).toBeUndefined()
  wakeSignal.wake('q')
  await clock.step(1_000)
  expect(sent).toEqual([])
  expect(heard).toEqual(['q'])
})
