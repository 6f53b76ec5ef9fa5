import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { gzipSync } from 'node:zlib'

/** None in a bundle that is CommonJS. A constant, since bundlers read `new URL(…, import.meta.url)`. */
const here: string | undefined = import.meta.url

/**
 * Where the page is built to, relative to `dist/http` and to `src/http`. None in a bundle, which has another
 * name: what Vite has built into the folder `client` beside that is the page of the application.
 */
const folders: readonly URL[] = /\/http\/page-files\./.test(`${here}`)
  ? ['../client/', '../../dist/client/'].map((path) => new URL(path, here))
  : []

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
}

/**
 * Whether a client takes gzip: it names it, and not at a quality of 0. Not one expression for the whole
 * header, which takes quadratic time for one of many spaces.
 */
function acceptsGzip(header: string): boolean {
  return header.split(',').some((coding) => {
    const [name, ...parameters] = coding.split(';').map((part) => part.trim().toLowerCase())
    return name === 'gzip' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}

/**
 * Whether a client has the file: `If-None-Match` names its tag, or any. A proxy that compresses marks the
 * tag as weak, and the browser sends it back so.
 */
function isKnown(header: string, etag: string): boolean {
  return header.split(',').some((given) => ['*', etag, `W/${etag}`].includes(given.trim()))
}

/** The file types that compression makes smaller. */
const packed = new Set(['.html', '.js', '.css', '.svg', '.json', '.webmanifest'])

interface PageFile {
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly zipped: Uint8Array<ArrayBuffer> | undefined
  readonly etag: string
}

function readFile(url: URL): PageFile {
  const bytes = new Uint8Array(readFileSync(url))
  const ending = extname(url.pathname)
  return {
    type: types[ending] ?? 'application/octet-stream',
    bytes,
    zipped: packed.has(ending) ? new Uint8Array(gzipSync(bytes)) : undefined,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
  }
}

const notBuilt = `<!doctype html>
<html lang="en">
<title>Sluice</title>
<h1>The files of the page are not next to the code of the dashboard</h1>
<p>If your application is bundled, leave <code>@sluice/dashboard</code> out of the bundle: mark it as
external (in Next.js, <code>serverExternalPackages</code>). In a checkout of Sluice, run
<code>npm run build</code>. Then reload this page. The API works without it.</p>
</html>
`

/**
 * The files of the page. They are read once and looked up by name, so that no requested name can
 * reach a file outside of the folder.
 */
export class PageFiles {
  readonly #folders: readonly URL[]
  #files: ReadonlyMap<string, PageFile> | undefined

  /** `among`: the folders to search, in this order. */
  constructor(among: readonly URL[] = folders) {
    this.#folders = among
  }

  #read(): ReadonlyMap<string, PageFile> | undefined {
    if (this.#files !== undefined) return this.#files
    const folder = this.#folders.find((url) => existsSync(new URL('index.html', url)))
    if (folder === undefined) return undefined
    const files = new Map<string, PageFile>()
    files.set('index.html', readFile(new URL('index.html', folder)))
    const assets = new URL('assets/', folder)
    for (const entry of existsSync(assets) ? readdirSync(assets, { withFileTypes: true }) : []) {
      if (!entry.isFile()) continue
      files.set(`assets/${entry.name}`, readFile(new URL(encodeURIComponent(entry.name), assets)))
    }
    this.#files = files
    return files
  }

  /** The page; or, if it was not built, a page that says how to build it. */
  index(request: Request): Response {
    const file = this.#read()?.get('index.html')
    if (file !== undefined) return answer(request, file, 'no-cache')
    const headers = { 'content-type': 'text/html; charset=utf-8' }
    return new Response(notBuilt, { status: 503, headers })
  }

  /** A script, style or image of the page. Its name contains a hash of its content. */
  asset(request: Request, name: string): Response | undefined {
    const file = this.#read()?.get(`assets/${name}`)
    if (file === undefined) return undefined
    return answer(request, file, 'public, max-age=31536000, immutable')
  }
}

/**
 * A file, compressed if the client takes that. Not in a route of Next.js, whose requests have a
 * `nextUrl`: it drops the header that says so, and compresses what is compressed once more.
 */
function answer(request: Request, file: PageFile, cacheControl: string): Response {
  const { type, bytes, zipped, etag } = file
  const headers = { etag, vary: 'accept-encoding', 'cache-control': cacheControl }
  if (isKnown(request.headers.get('if-none-match') ?? '', etag)) {
    return new Response(null, { status: 304, headers })
  }
  const takesZipped = acceptsGzip(request.headers.get('accept-encoding') ?? '')
  if (zipped === undefined || !takesZipped || 'nextUrl' in request) {
    return new Response(bytes, { headers: { ...headers, 'content-type': type } })
  }
  return new Response(zipped, {
    headers: { ...headers, 'content-type': type, 'content-encoding': 'gzip' },
  })
}
