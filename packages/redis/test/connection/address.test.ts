import assert from 'node:assert/strict'
import { test } from 'vitest'
import { parseAddress } from '../../src/clients/address.ts'

const none = { username: undefined, password: undefined, name: '', database: 0, isTls: false }

test.each([
  ['redis://db', { ...none, kind: 'single', address: { host: 'db', port: 6_379 }, hosts: [] }],
  // As both libraries of Redis read it: secrets often end with a newline.
  ['redis://db\n', { ...none, kind: 'single', address: { host: 'db', port: 6_379 }, hosts: [] }],
  [
    'rediss://app:p%40ss@db.example:6380/3',
    {
      ...none,
      kind: 'single',
      isTls: true,
      username: 'app',
      password: 'p@ss',
      database: 3,
      address: { host: 'db.example', port: 6_380 },
      hosts: [],
    },
  ],
  [
    'redis://:only-a-password@[::1]:1',
    {
      ...none,
      kind: 'single',
      password: 'only-a-password',
      address: { host: '::1', port: 1 },
      hosts: [],
    },
  ],
  // As both libraries read it, too: up to the last @ it is the password.
  [
    'redis://app:p@ss@db',
    {
      ...none,
      kind: 'single',
      username: 'app',
      password: 'p@ss',
      address: { host: 'db', port: 6_379 },
      hosts: [],
    },
  ],
  ['unix:///run/a@b', { ...none, kind: 'single', address: { path: '/run/a@b' }, hosts: [] }],
  [
    'unix:///run/redis%20x.sock',
    { ...none, kind: 'single', address: { path: '/run/redis x.sock' }, hosts: [] },
  ],
  [
    'redis-sentinel://a,b:5/main/2',
    {
      ...none,
      kind: 'sentinel',
      address: undefined,
      hosts: [
        { host: 'a', port: 26_379 },
        { host: 'b', port: 5 },
      ],
      name: 'main',
      database: 2,
    },
  ],
  [
    'rediss-cluster://u:p@a:1,b:2',
    {
      ...none,
      kind: 'cluster',
      isTls: true,
      username: 'u',
      password: 'p',
      address: undefined,
      hosts: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
    },
  ],
])('%s is read', (url, expected) => {
  assert.deepEqual(parseAddress(url), expected)
})

test.each([
  ['postgres://db', /not the address of a Redis/],
  ['redis://', /a host or a port/],
  ['redis://db:0', /a host or a port/],
  ['redis://db:70000', /a host or a port/],
  ['redis://a,b', /several hosts/],
  ['redis://db/x', /a database that is not a number/],
  ['redis-sentinel://a', /does not name the primary/],
  ['redis-cluster://a/1', /a cluster has one/],
  ['unix://', /names no socket/],
  ['redis://app:50%off@db', /^SluiceTypeError: url has a % .* write %25/],
  ['redis-sentinel://a/50%', /^SluiceTypeError: url has a % .* write %25/],
])('%s is refused', (url, message) => {
  assert.throws(() => parseAddress(url), message)
})

test('a refusal does not show the password', () => {
  assert.throws(
    () => parseAddress('redis://app:hidden@db:x'),
    (error: Error) => !error.message.includes('hidden'),
  )
})
