import assert from 'node:assert/strict'
import { closeSync, openSync, rmSync } from 'node:fs'
import { platform } from 'node:os'
import { onTestFinished, test } from 'vitest'
import { linkToOpenFile, targetOf } from '../src/connection/open-file-link.ts'
import { scratchFile } from './scratch.ts'

const onLinux = platform() === 'linux'

test('the link to an open file shows that it was removed', (context) => {
  context.skip(!onLinux, 'only Linux shows links to open files')
  const file = scratchFile()
  const opened = openSync(file, 'w')
  onTestFinished(() => closeSync(opened))
  const link = linkToOpenFile(file) ?? ''
  assert.equal(targetOf(link), file)
  rmSync(file)
  closeSync(openSync(file, 'w'))
  assert.notEqual(targetOf(link), file)
  assert.equal(linkToOpenFile(file), undefined)
})

test('a file that is open twice has no link that could be trusted, nor has one that is not open', () => {
  const file = scratchFile()
  const opened = [openSync(file, 'w'), openSync(file, 'r')]
  onTestFinished(() => opened.forEach(closeSync))
  assert.equal(linkToOpenFile(file), undefined)
  assert.equal(linkToOpenFile(scratchFile()), undefined)
  assert.equal(targetOf('/proc/self/fd/none'), undefined)
})
