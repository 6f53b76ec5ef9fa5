/** `contexts-changer.ts NAME COUNT`: says that it is ready, and at a message sets so many contexts. */

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import process from 'node:process'
import { systemClock } from '@sluice/core'
import { changeContexts } from '../../src/stores/contexts.ts'

const [, , name, count] = process.argv
const terminal = {
  env: process.env,
  cwd: process.cwd(),
  clock: systemClock,
  interrupted: new AbortController().signal,
  uniqueId: () => randomUUID(),
}
process.send?.('ready')
await once(process, 'message')
for (let index = 0; index < Number(count); index += 1) {
  await changeContexts(terminal, ({ stores }) => [
    { stores: { ...stores, [`${name}${index}`]: 'sqlite:/x.db' } },
    undefined,
  ])
}
process.disconnect()
