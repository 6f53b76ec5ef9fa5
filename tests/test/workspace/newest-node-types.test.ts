import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

// Programs that use the packages have newer types of Node than those that the packages are compiled with.
test('what is published of the channel is valid with the newest types of Node, too', () => {
  const newest = fileURLToPath(import.meta.resolve('types-node-newest/index.d.ts'))
  const events = join(import.meta.dirname, '../../../packages/core/src/events.ts')
  const program = ts.createProgram([newest, events], {
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    types: [],
  })
  const wrong = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  expect(wrong).toEqual([])
})
