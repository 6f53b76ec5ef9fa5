import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runInNewContext } from 'node:vm'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PageFiles } from '../src/http/page-files.ts'
import { Site } from './site.ts'

let folder: string
let built: URL

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-page-'))
  mkdirSync(join(folder, 'client', 'assets'), { recursive: true })
  writeFileSync(join(folder, 'client', 'index.html'), '<!doctype html><title>page</title>')
  writeFileSync(join(folder, 'client', 'secret.txt'), 'not part of the page')
  writeFileSync(join(folder, 'client', 'assets', 'page-abc123.js'), 'export {}')
  writeFileSync(join(folder, 'client', 'assets', 'a b%.woff2'), Buffer.from([1, 2, 3]))
  built = new URL('client/', pathToFileURL(`${folder}/`))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function ask(headers: Record<string, string> = {}): Request {
  return new Request('http://localhost/', { headers })
}

describe('the files of the page', () => {
  test('are cached for ever if their names contain a hash, and revalidated otherwise', async () => {
    const files = new PageFiles([built])
    const index = files.index(ask())
    expect(index.headers.get('cache-control')).toBe('no-cache')
    expect(index.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(await index.text()).toContain('<title>page</title>')
    const script = files.asset(ask(), 'page-abc123.js')
    expect(script?.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(script?.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    const etag = index.headers.get('etag') ?? ''
    const again = files.index(ask({ 'if-none-match': etag }))
    expect([again.status, await again.text()]).toEqual([304, ''])
    for (const [tags, status] of [
      [`W/${etag}`, 304],
      [`"other", W/${etag}`, 304],
      ['*', 304],
      ['"other"', 200],
      ['', 200],
    ] as const) {
      expect([tags, files.index(ask({ 'if-none-match': tags })).status]).toEqual([tags, status])
    }
  })

  test('are compressed for clients that accept it, if that makes them smaller', async () => {
    const files = new PageFiles([built])
    const packed = files.asset(ask({ 'accept-encoding': 'br, gzip' }), 'page-abc123.js') as Response
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(String(gunzipSync(Buffer.from(await packed.arrayBuffer())))).toBe('export {}')
    for (const refused of ['gzip;q=0', 'br, gzip ; q=0.000', 'gzip;Q=0, identity', 'gzipped']) {
      const whole = files.asset(ask({ 'accept-encoding': refused }), 'page-abc123.js') as Response
      expect([refused, whole.headers.get('content-encoding')]).toEqual([refused, null])
    }
    const last = files.asset(ask({ 'accept-encoding': 'br;q=0, GZIP;q=0.5' }), 'page-abc123.js')
    expect(last?.headers.get('content-encoding')).toBe('gzip')
    const font = files.asset(ask({ 'accept-encoding': 'gzip' }), 'a b%.woff2')
    expect(font?.headers.get('content-encoding')).toBeNull()
    expect(font?.headers.get('content-type')).toBe('font/woff2')
  })

  test('are found without delay, however long the header of a client is', () => {
    const files = new PageFiles([built])
    const long = ask({ 'accept-encoding': `gzip${' '.repeat(1_000_000)}x` })
    const encodingOf = () => files.asset(long, 'page-abc123.js')?.headers.get('content-encoding')
    // Quadratic time would be half an hour, in which the process does nothing else.
    const timeout = 10_000
    expect(runInNewContext('encodingOf()', { encodingOf }, { timeout })).toBeNull()
  })

  test('are not compressed in a route of Next.js, which drops the header that says so', () => {
    const request = ask({ 'accept-encoding': 'gzip' })
    Object.defineProperty(request, 'nextUrl', { value: new URL(request.url) })
    const script = new PageFiles([built]).asset(request, 'page-abc123.js')
    expect(script?.headers.get('content-encoding')).toBeNull()
  })

  test('are served below the base path, each with its own time to be cached', async () => {
    const site = new Site({ basePath: '/queues' })
    const { text } = await site.ask('/queues/')
    const [asset = ''] = /assets\/[\w.-]+\.js/.exec(text) ?? []
    const { status, headers } = await site.ask(`/queues/${asset}`)
    expect([status, headers.get('cache-control')]).toEqual([
      200,
      'public, max-age=31536000, immutable',
    ])
    const missing = await site.ask('/queues/assets/missing.js')
    expect([missing.status, missing.body['code']]).toEqual([404, 'ERR_NOT_FOUND'])
    await site.close()
  })

  test('are only those of the page, whatever name is requested', () => {
    const files = new PageFiles([built])
    for (const name of ['', '..', '../secret.txt', '..%2fsecret.txt', 'index.html', '__proto__']) {
      expect(files.asset(ask(), name), name).toBeUndefined()
    }
  })

  test('are found in the first folder that has them, as soon as they are built', async () => {
    const late = new URL('late/', pathToFileURL(`${folder}/`))
    const files = new PageFiles([new URL('nowhere/', built), late])
    const missing = files.index(ask())
    expect(missing.status).toBe(503)
    const text = await missing.text()
    expect(text).toContain('npm run build')
    expect(text).toContain('serverExternalPackages')
    // Nothing that the policy of the page does not allow.
    expect(text).not.toMatch(/<(script|style)|style=/)
    mkdirSync(late)
    writeFileSync(new URL('index.html', late), 'built')
    expect(await files.index(ask()).text()).toBe('built')
  })
})
