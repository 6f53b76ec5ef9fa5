import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { promisify } from 'node:util'
import { errorBytesMax } from '@sluice/core'
import { expect, test } from 'vitest'
import { createRateLimitingQueue, type LastError, memoryDriver } from '../../src/index.ts'
import type { SceneOptions } from '../support/setups.ts'

/** The stored text of an error, and the errors reported meanwhile. */
async function kept(error: unknown, options: SceneOptions<string> = {}) {
  const driver = memoryDriver()
  const errors: unknown[] = []
  const onError = (failure: unknown) => errors.push(failure)
  const queue = createRateLimitingQueue<string>({ name: 'q', driver, onError, ...options })
  await queue.add('k')
  const held = await queue.get()
  await held?.retry(error)
  const { rows } = await driver.list('q', { keys: ['k'], limit: 1 })
  const lastError = (await queue.inspect.get('k'))?.lastError as LastError
  await queue.close()
  return { lastError, text: rows[0]?.lastError ?? '', errors }
}

test('name, code and message are kept, and no stack', async () => {
  const error = Object.assign(new RangeError('too far'), { code: 'EFAR', secret: 'x' })
  const { lastError } = await kept(error)
  expect(lastError).toEqual({ name: 'RangeError', code: 'EFAR', message: 'too far' })
})

test.each([
  ['null', null],
  ['an empty text', ''],
])('%s is no code', async (_name, code) => {
  const { lastError } = await kept(Object.assign(new RangeError('too far'), { code }))
  expect(lastError).toEqual({ name: 'RangeError', message: 'too far' })
})

test('a number is a code', async () => {
  const { lastError } = await kept(Object.assign(new Error('unavailable'), { code: 14 }))
  expect(lastError.code).toBe('14')
})

test('a timeout or an abort of the platform has its name and not its legacy number', async () => {
  for (const name of ['TimeoutError', 'AbortError', 'NotAllowedError']) {
    const { lastError } = await kept(new DOMException('no answer', name))
    expect(lastError).toEqual({ name, message: 'no answer' })
  }
})

test('what fetch failed of is kept', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await promisify(server.close.bind(server))()
  const address = `127.0.0.1:${port}`
  const error: unknown = await fetch(`http://${address}`).catch((failure: unknown) => failure)
  const { lastError } = await kept(error)
  expect(lastError).toEqual({
    name: 'TypeError',
    code: 'ECONNREFUSED',
    message: `fetch failed: connect ECONNREFUSED ${address}`,
  })
})

test('an error has its own code before that of its cause, and what it says of the cause once', async () => {
  const cause = Object.assign(new Error('no route'), { code: 'ENOROUTE' })
  const own = Object.assign(new Error('cannot send: no route', { cause }), { code: 'ESEND' })
  const { lastError } = await kept(own)
  expect(lastError).toEqual({ name: 'Error', code: 'ESEND', message: 'cannot send: no route' })
})

test('a cause without a message is told by its code', async () => {
  const cause = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' })
  const { lastError } = await kept(new TypeError('fetch failed', { cause }))
  expect(lastError.message).toBe('fetch failed: ECONNREFUSED')
})

test('of several errors the first one is told', async () => {
  const first = Object.assign(new Error('no route'), { code: 'ENOROUTE' })
  const error = await Promise.any([Promise.reject(first)]).catch((failure: unknown) => failure)
  const { lastError } = await kept(error)
  expect(lastError).toEqual({
    name: 'AggregateError',
    code: 'ENOROUTE',
    message: 'All promises were rejected: no route',
  })
  const { lastError: nameless } = await kept(new AggregateError([first], ''))
  expect(nameless.message).toBe('no route')
})

test('a text is a cause, too', async () => {
  const { lastError } = await kept(new Error('cannot send', { cause: 'too slow' }))
  expect(lastError).toEqual({ name: 'Error', message: 'cannot send: too slow' })
})

test('an error that is its own cause is kept', async () => {
  const error = new Error('round')
  error.cause = error
  const { lastError } = await kept(error)
  expect(lastError).toEqual({ name: 'Error', message: 'round' })
})

test('errors that are the causes of each other are told once', async () => {
  const first = new Error('no route')
  first.cause = new Error('no link', { cause: first })
  const { lastError } = await kept(first)
  expect(lastError.message).toBe('no route: no link')
})

const unreadable = 'an error that cannot be read'

/** An error, one member of which throws when it is read. */
function withTrap(member: string): Error {
  const error = Object.assign(new RangeError('too far'), { code: 'EFAR' })
  return Object.defineProperty(error, member, {
    get: () => {
      throw new Error('trap')
    },
  })
}

test.each([
  ['name', { name: 'Error', code: 'EFAR', message: 'too far' }],
  ['code', { name: 'RangeError', message: 'too far' }],
  ['message', { name: 'RangeError', code: 'EFAR', message: unreadable }],
  ['stack', { name: 'RangeError', code: 'EFAR', message: 'too far' }],
  ['cause', { name: 'RangeError', code: 'EFAR', message: 'too far' }],
  ['errors', { name: 'RangeError', code: 'EFAR', message: 'too far' }],
])('where %s cannot be read, the other parts are kept', async (member, parts) => {
  const { lastError } = await kept(withTrap(member), { errorStacks: member === 'stack' })
  expect(lastError).toEqual(parts)
})

test('where a cause cannot be read, or a part is no text, the other parts are kept', async () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const error = new RangeError('too far', { cause: proxy })
  error.name = Object.create(null) as string
  const { lastError } = await kept(error)
  expect(lastError).toEqual({ name: unreadable, message: `too far: ${unreadable}` })
  expect((await kept(proxy)).lastError).toEqual({ name: 'Error', message: unreadable })
})

test('a stack is stored if the option is set', async () => {
  const { lastError } = await kept(new Error('no'), { errorStacks: true })
  expect(lastError.stack).toContain('last-error.test.ts')
})

test.each([
  ['ASCII', 'a'.repeat(5_000), 1_024],
  ['text of many bytes', '\u{1F600}'.repeat(5_000), 1_024],
])('a message of %s is cut to 1 kB', async (_name, message, bytes) => {
  const { lastError } = await kept(new Error(message))
  expect(Buffer.byteLength(lastError.message)).toBe(bytes)
  expect(message.startsWith(lastError.message)).toBe(true)
})

test('an error that grows in JSON is cut further', async () => {
  const error = new Error('\u0001'.repeat(5_000))
  error.stack = '\u0002'.repeat(5_000)
  const { lastError, text } = await kept(error, { errorStacks: true })
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(errorBytesMax)
  expect(lastError.message.replaceAll('\u0001', '')).toBe('')
})

test('characters that no store holds are replaced', async () => {
  const { lastError } = await kept(new Error('a\0b\ud800c'))
  expect(lastError.message).toBe('a\u2400b\ufffdc')
})

test('a redaction decides what is stored', async () => {
  const { lastError } = await kept(new Error('password=hunter2'), {
    redactError: (error) => ({ ...error, message: error.message.replace(/=.*/, '=…') }),
  })
  expect(lastError.message).toBe('password=…')
})

test('a redaction that fails keeps nothing, and is reported', async () => {
  const { lastError, errors } = await kept(new Error('password=hunter2'), {
    redactError: () => {
      throw new Error('no redaction')
    },
  })
  expect(lastError.message).not.toContain('hunter2')
  expect(errors).toEqual([expect.objectContaining({ message: 'no redaction' })])
})

test.each([
  ['a string', () => 'redacted', "got 'redacted'", []],
  ['nothing', () => undefined, 'got undefined', []],
  ['a promise', () => Promise.reject(new Error('late')), 'got a Promise', ['Error: late']],
])('a redaction that gives %s keeps nothing, and is reported', async (_, redact, text, later) => {
  const { lastError, errors } = await kept(new Error('password=hunter2'), {
    redactError: redact as never,
  })
  expect(lastError.message).toBe('an error that could not be redacted')
  expect(errors.map(String)).toEqual([expect.stringContaining(text), ...later])
})
