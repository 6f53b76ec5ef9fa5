import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const folder = join(root, '.github', 'workflows')
const workflows = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

test('workflows run commands that exist', () => {
  const commands = workflows.flatMap((text) => [...text.matchAll(/npm run ([\w:-]+)/g)])
  assert.ok(commands.length > 3)
  for (const [, command] of commands) assert.ok(manifest.scripts[command], command)
})

test('the oldest Node that the packages promise is tried on three systems', () => {
  const queue = JSON.parse(readFileSync(join(root, 'packages', 'queue', 'package.json'), 'utf8'))
  const oldest = queue.engines.node.replace('>=', '')
  const text = readFileSync(join(folder, 'ci.yml'), 'utf8')
  assert.ok(text.includes(`"${oldest}.0"`), `ci.yml does not name ${oldest}`)
  for (const system of ['ubuntu', 'macos', 'windows']) assert.ok(text.includes(`${system}-latest`))
})

test('only the release may write, and no workflow has a token of the registry', () => {
  for (const text of workflows) {
    assert.match(text, /^permissions:\n {2}contents: read$/m)
    assert.doesNotMatch(text, /NPM_TOKEN|NODE_AUTH_TOKEN/)
  }
})
