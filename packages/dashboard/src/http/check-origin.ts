import { HttpError } from './http-error.ts'

/** The headers of every response. */
const safeHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
    "img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
}

/** The response with the headers that every response has. */
export function withSafeHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(safeHeaders)) response.headers.set(name, value)
  if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store')
  return response
}

/**
 * A host as browsers write it: `[::ffff:127.0.0.1]:80` is `[::ffff:7f00:1]:80`. `undefined` if it is none.
 */
export function hostIn(text: string): string | undefined {
  const [, name, port = ''] = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d+)?$/i.exec(text) ?? []
  return name !== undefined && URL.canParse(`http://${name}`)
    ? new URL(`http://${name}`).hostname + port
    : undefined
}

/** The `Host` header as the browser sent it; a server in between may have changed the URL. */
function hostOf(request: Request): string {
  const host = request.headers.get('host') ?? new URL(request.url).host
  return hostIn(host) ?? host
}

function isAllowed(host: string, hosts: readonly string[]): boolean {
  const name = host.replace(/:\d+$/, '')
  return hosts.some((allowed) => allowed === host || allowed === name)
}

/**
 * Throws unless the request was meant for this dashboard.
 *
 * A foreign page can make a browser send requests here, and a foreign name can resolve to this
 * address (DNS rebinding); then `Host` and `Origin` both carry the foreign name.
 */
export function checkOrigin(request: Request, hosts: readonly string[]): void {
  const host = hostOf(request)
  if (!isAllowed(host, hosts)) {
    throw new HttpError(
      403,
      'ERR_FOREIGN_HOST',
      'cannot answer for this host name: name it in the option hosts of the dashboard, or with `sluice dashboard --allow-host`',
    )
  }
  const origin = request.headers.get('origin')
  if (origin !== null && !isOwnOrigin(origin, host)) throw foreign()
  if (!mayComeFrom(request)) throw foreign()
}

function isOwnOrigin(origin: string, host: string): boolean {
  try {
    const { protocol, host: from } = new URL(origin)
    if (protocol !== 'http:' && protocol !== 'https:') return false
    return from === new URL(`${protocol}//${host}`).host
  } catch {
    return false
  }
}

/** Checks `Sec-Fetch-Site`. Clients other than browsers do not send it. */
function mayComeFrom(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site')
  if (site === null || site === 'same-origin') return true
  if (request.method !== 'GET' && request.method !== 'HEAD') return false
  // The address was typed, or a link to the page was followed.
  return site === 'none' || request.headers.get('sec-fetch-mode') === 'navigate'
}

function foreign(): HttpError {
  return new HttpError(
    403,
    'ERR_FOREIGN_ORIGIN',
    'cannot answer a page of another origin; open the dashboard directly',
  )
}
