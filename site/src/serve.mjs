// Serves the built site as GitHub Pages does: below its path, pages without their ending.
import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'

const types = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** The file that a path is answered with; undefined if there is none. */
export function fileOf(dist, path) {
  const plain = normalize(decodeURIComponent(path)).replace(/^(\.\.(\/|$))+/, '')
  const candidates = [plain, `${plain}.html`, join(plain, 'index.html')]
  return candidates
    .map((name) => join(dist, name))
    .find((file) => existsSync(file) && statSync(file).isFile())
}

/** Starts serving; resolves to the address of the front page and what ends it. */
export async function serve(dist, base, port = 0) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost')
    const file = pathname.startsWith(base) ? fileOf(dist, pathname.slice(base.length)) : undefined
    if (file === undefined) {
      response.writeHead(404).end('not found')
      return
    }
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' })
    createReadStream(file).pipe(response)
  })
  await new Promise((resolve) => {
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    address: `http://127.0.0.1:${server.address().port}${base}`,
    end: () => new Promise((resolve) => server.close(resolve)),
  }
}
