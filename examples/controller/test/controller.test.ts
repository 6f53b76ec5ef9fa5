import { expect, onTestFinished, test } from 'vitest'
import { startController } from '../src/controller.ts'
import { Deployments } from '../src/deployments.ts'
import { Machines } from '../src/machines.ts'

function world(mayStart: () => boolean = () => true) {
  let starts = 0
  const machines = new Machines(() => {
    starts += 1
    return mayStart()
  })
  return { machines, deployments: new Deployments(), starts: () => starts }
}

test('what was there before the start is brought in line, and so is what is left over', async () => {
  const { machines, deployments } = world()
  await machines.start('gone')
  deployments.set({ name: 'web', machines: 3 })
  const controller = await startController(deployments, machines)
  onTestFinished(() => controller.stop())
  await controller.settled()
  expect(machines.count('web')).toBe(3)
  expect(machines.names()).toEqual(['web'])
})

test('however often a wish changes, it comes to the last one', async () => {
  const { machines, deployments } = world()
  const controller = await startController(deployments, machines)
  onTestFinished(() => controller.stop())
  for (let size = 0; size < 1_000; size += 1) deployments.set({ name: 'web', machines: size % 10 })
  deployments.set({ name: 'web', machines: 2 })
  deployments.delete('other')
  await controller.settled()
  expect(machines.count('web')).toBe(2)
  expect(machines.names()).toEqual(['web'])
})

test('a start that fails is tried again until it does not', async () => {
  let failures = 5
  const { machines, deployments, starts } = world(() => failures-- <= 0)
  deployments.set({ name: 'web', machines: 2 })
  const controller = await startController(deployments, machines)
  onTestFinished(() => controller.stop())
  await controller.settled()
  expect(machines.count('web')).toBe(2)
  expect(starts()).toBe(7)
})

test('it is looked at again by and by, although nothing has changed', async () => {
  const { machines, deployments } = world()
  deployments.set({ name: 'web', machines: 1 })
  const controller = await startController(deployments, machines)
  onTestFinished(() => controller.stop())
  await controller.settled()
  expect(await controller.queue.inspect.get('web')).toMatchObject({ state: 'delayed' })
})
