/** `contexts-changer.ts NAME COUNT`: sets so many contexts, one after another. */
import { randomUUID } from 'node:crypto'
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
for (let index = 0; index < Number(count); index += 1) {
  await changeContexts(terminal, ({ stores }) => [
    { stores: { ...stores, [`${name}${index}`]: 'sqlite:/x.db' } },
    undefined,
  ])
}
