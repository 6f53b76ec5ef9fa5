import { readdirSync, readFileSync } from 'node:fs'
import files from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { nextTurn } from '@sluice/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Interrupted } from '../src/index.ts'
import { cli, output, scratchFolder } from './cli.ts'
import { newFile } from './stores.ts'

test('an export to a file that fails, or is interrupted, leaves none, and can be repeated', async () => {
  const store = newFile()
  await output(['add', 'orders', 'a', 'later'], { store })
  const [cwd, file] = [scratchFolder(), ['export', 'orders', '-f', 'orders.ndjson']]
  const setItem = (item: string): void => {
    const database = new DatabaseSync(store.slice('sqlite:'.length))
    database.prepare(`update sluice_keys set item = ? where key = 'later'`).run(item)
    database.close()
  }
  setItem('no JSON')
  const failed = await cli(file, { store, cwd })
  expect(failed.err).toContain('not JSON')
  expect(readdirSync(cwd)).toEqual([])

  setItem('"later"')
  const interruption = new AbortController()
  const cut = await cli(file, {
    store,
    cwd,
    isTTY: true,
    interrupted: interruption.signal,
    onErr: () => interruption.abort(new Interrupted('SIGINT')),
  })
  expect(cut.code).toBe(130)
  expect(cut.err).toContain('lines')
  expect(readdirSync(cwd)).toEqual([])

  // Only the lines go to the file: it is whole also where stdout has no reader.
  await output(file, { store, cwd, closed: AbortSignal.abort() })
  expect(readFileSync(join(cwd, 'orders.ndjson'), 'utf8')).toMatch(/\{"end":true/)
})

test('an export that is interrupted while its file is opened leaves none', async () => {
  const store = newFile()
  await output(['add', 'orders', 'a'], { store })
  const [cwd, interruption] = [scratchFolder(), new AbortController()]
  const { open } = files
  const opening = vi.spyOn(files, 'open').mockImplementation(async (...args) => {
    const file = await open(...args)
    interruption.abort(new Interrupted('SIGINT'))
    for (let turn = 0; turn < 100; turn += 1) await new Promise<void>(nextTurn)
    return file
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    opening.mockRestore()
    syncBuiltinESMExports()
  })
  const file = ['export', 'orders', '-f', 'orders.ndjson']
  const { code } = await cli(file, { store, cwd, interrupted: interruption.signal })
  expect(opening).toHaveBeenCalledTimes(1)
  expect(code).toBe(130)
  expect(readdirSync(cwd)).toEqual([])
})
