import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { newDriver } from '../new-driver.mjs'

const repository = join(import.meta.dirname, '..', '..')

let root

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sluice-new-driver-'))
  await cp(join(repository, 'templates'), join(root, 'templates'), { recursive: true })
  for (const file of ['package.json', 'tsconfig.json']) {
    await cp(join(repository, file), join(root, file))
  }
})

afterEach(async () => {
  await rm(root, { recursive: true, force: true })
})

test('a new driver is the template under its own name', async () => {
  const folder = await newDriver(root, 'redis')
  expect(folder).toBe(join(root, 'packages', 'redis'))
  const files = (await readdir(folder, { recursive: true })).sort()
  expect(files).toEqual([
    'README.md',
    'package.json',
    'src',
    'src/index.ts',
    'src/redis-driver.ts',
    'test',
    'test/conformance.test.ts',
    'tsconfig.json',
  ])
  for (const file of files.filter((name) => name.includes('.'))) {
    expect(await readFile(join(folder, file), 'utf8')).not.toMatch(/template/i)
  }
  const driver = await readFile(join(folder, 'src/redis-driver.ts'), 'utf8')
  expect(driver).toContain('export function redisDriver(options: RedisOptions = {}): Driver {')
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  expect(manifest.name).toBe('@sluice/redis')
  expect(manifest.private).toBeUndefined()
  expect(manifest.publishConfig).toEqual({ access: 'public' })
  expect(manifest.repository.directory).toBe('packages/redis')
})

test('the compiler gets a reference to it', async () => {
  await newDriver(root, 'redis')
  const { references } = JSON.parse(await readFile(join(root, 'tsconfig.json'), 'utf8'))
  expect(references.at(-1)).toEqual({ path: 'packages/redis' })
})

test('a driver that exists is not changed', async () => {
  await newDriver(root, 'redis')
  await expect(newDriver(root, 'redis')).rejects.toThrow('already exists')
})

test.each([undefined, '', 'Redis', 'my-store', '../up', '1st'])('%j is no name', async (name) => {
  await expect(newDriver(root, name)).rejects.toThrow('lower-case letters')
})
