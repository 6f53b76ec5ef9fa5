import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'vitest'
import { bundle, bundleSplit } from '../src/bundle.ts'
import { entryPoints } from '../src/entry-points.ts'
import { browserLimits, sizeLimits } from '../src/size-limits.ts'

describe('each entry point keeps its size limit', () => {
  for (const { name } of entryPoints) {
    test(name, async () => {
      const limit = sizeLimits[name]
      assert.ok(limit, `${name} has no limit; give it one in tools/bundle/src/size-limits.ts`)
      const { gzipBytes } = await bundle(`export * from '${name}'`, 'node')
      const message = `${name} takes ${gzipBytes} bytes; the limit is ${limit} kB`
      assert.ok(gzipBytes <= limit * 1_000, message)
      // A limit far above the size would let it grow unseen.
      if (limit > 40) assert.ok(gzipBytes > limit * 700, `${message}, which is far too high`)
    })
  }

  test('no limit is of an entry point that does not exist', () => {
    assert.deepEqual(Object.keys(sizeLimits).sort(), entryPoints.map(({ name }) => name).sort())
  })
})

describe('a bundle for a browser', () => {
  const queue = "export { createQueue } from 'sluice'"

  test('a queue with the memory driver keeps its size limits', async () => {
    const { gzipBytes } = await bundle(queue, 'browser')
    const { firstGzipBytes, first, code } = await bundleSplit(queue)
    const worker = await bundleSplit("export { createQueue, createWorker } from 'sluice'")
    console.log(
      `createQueue with memory, compressed: ${firstGzipBytes} bytes at first, in ${first.length} ` +
        `of ${code.size} files, ${worker.firstGzipBytes} with a worker; ${gzipBytes} bytes in one file`,
    )
    const withWorker = worker.firstGzipBytes
    assert.ok(withWorker <= browserLimits.atFirstWithWorker * 1_000, `${withWorker} with a worker`)
    assert.ok(firstGzipBytes <= browserLimits.atFirst * 1_000, `${firstGzipBytes} bytes at first`)
    assert.ok(gzipBytes <= browserLimits.inOneFile * 1_000, `${gzipBytes} bytes in one file`)
    const readme = readFileSync(
      new URL('../../../packages/memory/README.md', import.meta.url),
      'utf8',
    )
    for (const bytes of [firstGzipBytes, withWorker, gzipBytes]) {
      assert.match(readme, new RegExp(`\\b${Math.round(bytes / 1_000)} kB`))
    }
  })

  test('what only some queues need is fetched when they need it', async () => {
    const { firstSources } = await bundleSplit(queue)
    for (const part of browserLimits.later) {
      const found = firstSources.filter((file) => file.includes(part))
      assert.deepEqual(found, [], `something of ${part} is fetched at first`)
    }
  })

  test('what a program does not use is not in its bundle', async () => {
    const without = await bundle(queue, 'browser')
    const has = (part: string) => without.files.some((file) => file.includes(part))
    assert.ok(has('memory/src/memory-driver.ts'))
    for (const part of ['packages/limiters/', '/worker/', '/foreign/', '/testing/', '/transfer/']) {
      assert.ok(!has(part), `something of ${part} is in the bundle of a plain queue`)
    }
    const everything = await bundle("export * from 'sluice'", 'browser')
    assert.ok(without.gzipBytes < everything.gzipBytes * 0.9)
  })
})
