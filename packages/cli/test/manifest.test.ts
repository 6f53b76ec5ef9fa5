import { expect, test } from 'vitest'
import { newerNodeNeeded } from '../src/manifest.ts'
import { start } from './program.ts'

test.each([
  ['20.20.2', '22.14'],
  ['22.13.9', '22.14'],
  ['22.14.0', undefined],
  ['22.15.0', undefined],
  ['24.0.0', undefined],
])('Node %s needs %s', (version, needed) => {
  expect(newerNodeNeeded(version)).toBe(needed)
})

test('the program says which version of Node it needs, and does nothing on an older one', async () => {
  const older = 'Object.defineProperty(process.versions, "node", { value: "20.20.2" })'
  const program = start(['--version'], {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(older)}`,
  })
  expect(await program.ended).toEqual({
    code: 1,
    signal: null,
    out: '',
    err: 'sluice: cannot run on Node 20.20.2; install Node 22.14 or newer\n',
  })
})
