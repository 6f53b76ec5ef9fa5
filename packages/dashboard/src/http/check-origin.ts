import { Refused } from './http-error.ts'

/** What every answer says, whatever it is. */
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

/** The answer with what every answer says. */
export function withSafeHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(safeHeaders)) response.headers.set(name, value)
  if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store')
  return response
}

/** The host that a request is for: what the browser was told, not what a server made of it. */
function hostOf(request: Request): string {
  return (request.headers.get('host') ?? new URL(request.url).host).toLowerCase()
}

function isAllowed(host: string, hosts: readonly string[]): boolean {
  const name = host.replace(/:\d+$/, '')
  return hosts.some((allowed) => allowed === host || allowed === name)
}

/**
 * Lets only requests through that were meant for this dashboard.
 *
 * A page of somebody else's can make a browser send requests here, and a name of theirs can lead to
 * this address (DNS rebinding); then the name in `Host` is theirs, and in `Origin` too.
 */
export function checkDoor(request: Request, hosts: readonly string[]): void {
  const host = hostOf(request)
  if (!isAllowed(host, hosts)) {
    throw new Refused(
      403,
      'ERR_FOREIGN_HOST',
      'cannot answer for this host name: name it in the option hosts of the dashboard',
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

/** What a browser says about the page that makes it ask. Others than browsers say nothing. */
function mayComeFrom(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site')
  if (site === null || site === 'same-origin') return true
  if (request.method !== 'GET' && request.method !== 'HEAD') return false
  // Somebody typed the address, or followed a link to the page.
  return site === 'none' || request.headers.get('sec-fetch-mode') === 'navigate'
}

function foreign(): Refused {
  return new Refused(
    403,
    'ERR_FOREIGN_ORIGIN',
    'cannot answer a page of another origin; open the dashboard itself',
  )
}
