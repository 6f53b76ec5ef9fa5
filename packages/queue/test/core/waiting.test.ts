import { memoryDriver } from '@sluice/memory'
import { expect, test, vi } from 'vitest'
import { direct, Scene } from '../support/setups.ts'

test('a get that has to wait claims in vain once, and the add that ends its wait claims once', async () => {
  const driver = memoryDriver()
  const queue = new Scene(direct, driver).queue({ name: 'waited-for' })
  await queue.add('first')
  await (await queue.get())!.done()
  const claim = vi.spyOn(driver.direct!('waited-for'), 'claim')
  const waiting = queue.get()
  expect(claim).toHaveBeenCalledTimes(1)
  await queue.add('second')
  expect((await waiting)!.key).toBe('second')
  expect(claim).toHaveBeenCalledTimes(2)
})
