import { expect, test } from 'vitest'
import { cli, output } from './cli.ts'
import { newFile } from './stores.ts'

async function filled(): Promise<string> {
  const store = newFile()
  await output(['add', 'orders', 'order/42', 'order/43'], { store })
  await output(['add', 'mails', 'odd\tkey', '--item', '{"to":["a",1]}'], { store })
  return store
}

test('--fields prints members of each row of a list, separated by tabs', async () => {
  const store = await filled()
  const fields = ['--fields', 'queue,counts.ready,paused']
  expect(await output(['queues', ...fields], { store })).toBe('mails\t1\tfalse\norders\t2\tfalse\n')
  expect(await output(['ls', 'orders', '--all', '--fields', 'key'], { store })).toBe(
    'order/42\norder/43\n',
  )
})

test('--fields prints members of a document that is no list', async () => {
  const store = await filled()
  expect(await output(['counts', 'orders', '--fields', 'queue,counts.ready'], { store })).toBe(
    'orders\t2\n',
  )
  // An item that is a list of objects does not make its key one.
  expect(await output(['get', 'mails', 'odd\tkey', '--fields', 'key,item.to.1'], { store })).toBe(
    '"odd\\tkey"\t1\n',
  )
})

test('a member that a row does not have is empty, and one that no row has is said', async () => {
  const store = await filled()
  const { out, err, code } = await cli(['queues', '--fields', 'queue,cuonts.ready'], { store })
  expect({ out, code }).toEqual({ out: 'mails\t\norders\t\n', code: 0 })
  expect(err).toMatch(/nothing has the member 'cuonts'; there are queue, .*counts/)
})

test('a member below another one that no row has is said too, with those that are there', async () => {
  const store = await filled()
  const deep = await cli(['queues', '--fields', 'queue,counts.raedy'], { store })
  expect(deep).toMatchObject({ code: 0, out: 'mails\t\norders\t\n' })
  expect(deep.err).toMatch(
    /^warning: nothing has the member 'counts.raedy'; there are counts.ready, counts.delayed,/,
  )
  const below = await cli(['queues', '--fields', 'queue.name'], { store })
  expect(below.err).toBe("warning: nothing has the member 'queue.name'\n")
  // One row that has it is enough, and of an item every name is shown on one line.
  await output(['add', 'mails', '--item', '{"a\\nb":{"to":"x"}}'], { store })
  const some = await cli(['ls', 'mails', '--fields', 'item.to.1'], { store })
  expect(some).toEqual({ code: 0, out: '\n1\n', err: '' })
  const odd = await cli(['ls', 'mails', '--fields', 'item.cc'], { store })
  expect(odd.err).toMatch(
    /^warning: nothing has the member 'item.cc'; there are item\.[^\n]*, item\.[^\n]*\n$/,
  )
})

test('--fields of no rows says nothing', async () => {
  const store = await filled()
  const none = await cli(['ls', 'orders', '--state', 'parked', '--fields', 'kye'], { store })
  expect(none).toEqual({ code: 0, out: '', err: '' })
})

test('--fields that cannot be read is a usage error', async () => {
  const members = '--fields takes members of the document'
  const refusals = { '': '--fields is empty', ',': members, 'a,,b': members, 'a..b': members }
  for (const [text, refusal] of Object.entries(refusals)) {
    const { code, err } = await cli(['queues', '--fields', text], { store: newFile() })
    expect(code).toBe(2)
    expect(err).toContain(refusal)
  }
})

test('with --watch, members are printed again when a row changes', async () => {
  const store = await filled()
  const stop = new AbortController()
  let lines = ''
  await cli(['ls', 'orders', '--watch', '--interval', '100ms', '--fields', 'key,state'], {
    store,
    closed: stop.signal,
    onOut: (text) => {
      lines += text
      if (lines === 'order/42\tready\norder/43\tready\n') {
        void output(['park', 'orders', 'order/43'], { store })
      }
      if (lines.includes('parked')) stop.abort()
    },
  })
  expect(lines).toBe('order/42\tready\norder/43\tready\norder/43\tparked\n')
})
