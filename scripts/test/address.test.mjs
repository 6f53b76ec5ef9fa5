import assert from 'node:assert/strict'
import { test } from 'vitest'
import { moved, parseAddress, readAddress } from '../address.mjs'

const from = { repository: 'https://github.com/a/b', site: 'https://a.github.io/b/' }

test('the address is that of the root manifest', () => {
  const { repository, site } = readAddress()
  assert.match(repository, /^https:\/\/github\.com\/[^/]+\/[^/]+$/)
  assert.match(site, /^https:\/\/.*\/$/)
})

test('a new address replaces both, and the site follows from the repository', () => {
  const to = parseAddress(['https://github.com/New/c'])
  assert.deepEqual(to, { repository: 'https://github.com/New/c', site: 'https://new.github.io/c/' })
  assert.equal(
    moved('git+https://github.com/a/b.git https://a.github.io/b/x#y', from, to),
    'git+https://github.com/New/c.git https://new.github.io/c/x#y',
  )
})

test('a site of its own, and what is no address', () => {
  const own = parseAddress(['https://github.com/a/b', 'https://queue.example/'])
  assert.equal(own.site, 'https://queue.example/')
  assert.match(parseAddress([]).problem, /usage/)
  assert.match(parseAddress(['https://github.com/a/b', 'https://queue.example']).problem, /slash/)
})
