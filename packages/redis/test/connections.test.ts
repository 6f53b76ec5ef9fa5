import { expect, test } from 'vitest'
import { ReplyError } from '../src/index.ts'

test('the code of an error reply is its first word', () => {
  expect(new ReplyError('NOSCRIPT No matching script.').code).toBe('NOSCRIPT')
  expect(new ReplyError('ERR').code).toBe('ERR')
})
