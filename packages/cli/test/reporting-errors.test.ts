import { SluiceError } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { Printer } from '../src/output/printer.ts'
import { reportError } from '../src/output/report-error.ts'
import { Secrets } from '../src/stores/secrets.ts'
import type { Terminal } from '../src/terminal.ts'

/** What is printed for an error. */
async function reported(error: unknown, debug = false): Promise<string> {
  let text = ''
  const write = (more: string): void => {
    text += more
  }
  const output = { isTTY: false, columns: undefined, closed: new AbortController().signal, write }
  const terminal = { stdout: output, stderr: output, env: {} } as unknown as Terminal
  const print = new Printer(terminal, { format: 'table', headers: true, colours: false })
  expect(await reportError(error, print, new Secrets(), debug)).toBe(1)
  return text
}

describe('the report of an error', () => {
  test('names its code once', async () => {
    const text = await reported(new SluiceError('ERR_STORE_BUSY', 'a key is locked'))
    expect(text).toMatch(/^sluice: a key is locked \[ERR_STORE_BUSY\]; try again/)
  })

  test('of a store that is busy says nothing of a lock, which Redis has none of', async () => {
    const loading = 'Redis answered: LOADING Redis is loading the dataset in memory'
    expect(await reported(new SluiceError('ERR_STORE_BUSY', loading))).toBe(
      `sluice: ${loading} [ERR_STORE_BUSY]; try again\n`,
    )
  })

  test('is not empty where the error has no message', async () => {
    expect(await reported(new Error(''))).toContain('sluice: failed without a message [ERR_')
  })

  test.each([false, true])(
    'contains nothing that a terminal obeys (--debug: %s)',
    async (debug) => {
      const cause = new Error('\u001b[2Jcleared')
      const text = await reported(new Error('\u001b]0;title\u0007', { cause }), debug)
      expect(text).toContain('title')
      expect(text.replaceAll('\n', '')).toMatch(/^[\x20-\x7e]+$/)
    },
  )

  test('ends with --debug although an error is its own cause', async () => {
    const error = new Error('round')
    error.cause = new Error('and round', { cause: error })
    expect(await reported(error, true)).toContain('caused by Error: and round')
  })
})
