// `npm run site:check`: looks at the built site in a real browser: links, pages wider than a
// phone, what axe-core says of both themes, the search and the playground.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import axe from 'axe-core'
import { chromium } from 'playwright-core'
import { readAddress } from '../scripts/address.mjs'
import { brokenAddresses, brokenLinks, builtPages } from './src/links.mjs'
import { root } from './src/pages.mjs'
import { serve } from './src/serve.mjs'
import { tryPlayground } from './src/try-playground.mjs'

const dist = join(root, 'site', 'dist')
const screens = join(root, 'site', '.cache', 'screens')
const { site } = readAddress()
const base = new URL(site).pathname
const wide = { width: 1440, height: 900 }
const phone = { width: 360, height: 740 }
const started = Date.now()
const problems = []

const pages = builtPages(dist)
problems.push(...brokenLinks(dist, base, pages))
const named = [
  ...readFileSync(join(root, 'packages/metrics/prometheus/rules.yaml'), 'utf8').matchAll(
    /runbook_url: (\S+)/g,
  ),
].map(([, address]) => address)
const codes =
  readFileSync(join(root, 'docs/reference/errors.md'), 'utf8').match(/^## ERR_\w+/gm) ?? []
named.push(...codes.map((line) => `${site}reference/errors#${line.slice(3).toLowerCase()}`))
if (codes.length < 10) problems.push('the codes of errors were not found')
for (const address of brokenAddresses(dist, site, named)) {
  problems.push(`an error or an alert names ${address}, which leads nowhere`)
}

const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
const where = names.flatMap((name) => {
  try {
    return [execFileSync('which', [name], { encoding: 'utf8' }).trim()]
  } catch {
    return []
  }
})
if (where.length === 0) {
  console.error('sluice: Chromium is missing, so the pages are not checked')
  process.exit(process.env.SLUICE_REQUIRE_ALL === '1' ? 1 : 0)
}
const server = await serve(dist, base)
const browser = await chromium.launch({ executablePath: where[0], args: ['--no-sandbox'] })
mkdirSync(screens, { recursive: true })

// All documents; of the reference and the decisions, which come from one template each, some.
const some = (list, count) =>
  list.filter((_, index) => index % Math.ceil(list.length / count) === 0)
const isOf = (folder) => (page) => page.startsWith(`${folder}/`)
const looked = [
  ...pages.filter((page) => !isOf('api')(page) && !isOf('decisions')(page)),
  ...some(pages.filter(isOf('decisions')), 4),
  ...some(pages.filter(isOf('api')), 8),
]
const pictured = new Set([
  '',
  'introduction',
  'playground',
  'guides/rate-limiting',
  'reference/conformance',
])

const framesSeen = new Set()

/**
 * What axe-core leaves out of a page: the bars around it, which are most of it, once they were seen
 * in this theme and size on another page with the same.
 */
function frameToSkip(name, theme, size) {
  const bars =
    ['api', 'decisions'].find((folder) => isOf(folder)(name)) ?? (name === '' ? 'front' : '')
  const frame = `${bars} ${theme} ${size.width}`
  if (pictured.has(name) || !framesSeen.has(frame)) {
    framesSeen.add(frame)
    return ''
  }
  return '.VPNav, .VPSidebar'
}

async function look(page, name) {
  const tell = (words) => problems.push(`${name === '' ? 'the front page' : name}: ${words}`)
  const failed = (request) => {
    // A page that is left no longer needs what it fetches ahead.
    if (request.failure()?.errorText === 'net::ERR_ABORTED') return
    tell(`${request.url()} was not loaded`)
  }
  const threw = (error) => tell(String(error))
  page.on('requestfailed', failed)
  page.on('pageerror', threw)
  await page.setViewportSize(wide)
  await page.goto(server.address + name, { waitUntil: 'load' })
  if (name === 'playground') await page.waitForSelector('[data-ready="true"]')
  // One change of the size: a page is laid out again for each.
  for (const [theme, size] of [
    ['dark', wide],
    ['light', wide],
    ['light', phone],
    ['dark', phone],
  ]) {
    const isFull = name === '' || name === 'playground'
    const isMain = pictured.has(name)
    await page.evaluate((isDark) => {
      document.documentElement.classList.toggle('dark', isDark)
    }, theme === 'dark')
    await page.setViewportSize(size)
    const over = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      if (scrollWidth <= clientWidth) return undefined
      const widest = [...document.querySelectorAll('body *')].find(
        (element) => element.getBoundingClientRect().right > clientWidth + 1,
      )
      return `${scrollWidth} px wide, by ${widest?.outerHTML.slice(0, 120)}`
    })
    if (over !== undefined) tell(`at ${size.width} px the page is ${over}`)
    const below = await page.evaluate(() =>
      [...document.querySelectorAll('.front h1, .front figure, .front .columns > div')]
        .filter((element) => element.getBoundingClientRect().bottom > window.innerHeight)
        .map((element) => element.querySelector('h2')?.textContent ?? element.localName)
        .filter((part) => !part.startsWith('Stores') && !part.startsWith('Not for')),
    )
    if (below.length > 0) tell(`at ${size.width} px ${below.join(', ')} is not on the first screen`)
    const torn = await page.evaluate(
      () =>
        [...document.querySelectorAll('td code')].find((code) => code.getClientRects().length > 6)
          ?.textContent,
    )
    if (torn !== undefined) tell(`at ${size.width} px a table breaks ${torn} into many lines`)
    // The other two combinations differ in nothing that axe-core looks at, but on the main pages.
    if ((theme === 'dark') === (size === wide) || isFull) {
      const isThere = await page.evaluate(() => window.axe !== undefined)
      if (!isThere) await page.addScriptTag({ content: axe.source })
      const frame = frameToSkip(name, theme, size)
      const violations = await page.evaluate(async (exclude) => {
        const { violations } = await window.axe.run(exclude === '' ? document : { exclude }, {
          runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
          resultTypes: ['violations'],
        })
        return violations.map(({ id, nodes }) => {
          const [{ target, failureSummary }] = nodes
          return `${id} (${nodes.length}): ${target.join(' ')}: ${failureSummary.split('\n')[1]?.trim()}`
        })
      }, frame)
      for (const words of violations) tell(`${theme}, ${size.width} px: ${words}`)
    }
    if (isMain) {
      const file = `${name === '' ? 'front' : name.replace('/', '-')}-${size.width}-${theme}.png`
      await page.screenshot({ path: join(screens, file) })
    }
  }
  const broken = await page.evaluate(() =>
    [...document.images]
      .filter(
        ({ complete, naturalWidth, loading }) =>
          loading !== 'lazy' && complete && naturalWidth === 0,
      )
      .map(({ src }) => src),
  )
  for (const src of broken) tell(`the picture ${src} is not shown`)
  page.off('requestfailed', failed)
  page.off('pageerror', threw)
}

async function trySearch(page) {
  await page.setViewportSize(wide)
  await page.goto(server.address, { waitUntil: 'load' })
  await page.click('.VPNavBarSearch button')
  await page.fill('.VPLocalSearchBox input', 'fencing token')
  await page.waitForSelector('.VPLocalSearchBox .results a', { timeout: 30_000 })
  await page.fill('.VPLocalSearchBox input', 'createRateLimitingQueue')
  await page.waitForSelector('.VPLocalSearchBox .results a[href*="/api/"]', { timeout: 30_000 })
}

try {
  const waiting = [...looked]
  await Promise.all(
    Array.from({ length: availableParallelism() + 1 }, async () => {
      const page = await browser.newPage({ reducedMotion: 'reduce' })
      // As a reader who saves data: the pages behind a hundred links are not fetched ahead.
      await page.addInitScript(() => {
        Object.defineProperty(navigator, 'connection', { value: { saveData: true } })
      })
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        await look(page, name)
      }
      await page.close()
    }),
  )
  const page = await browser.newPage({ viewport: wide })
  await trySearch(page).catch((error) => problems.push(`the search: ${error.message}`))
  await tryPlayground(page, `${server.address}playground`).catch((error) =>
    problems.push(`the playground: ${error.message}`),
  )
  await page.screenshot({ path: join(screens, 'playground-used.png'), fullPage: true })
} finally {
  await browser.close()
  await server.end()
}
for (const problem of problems) console.error(`sluice: ${problem}`)
const seconds = ((Date.now() - started) / 1_000).toFixed(0)
console.log(
  `sluice: ${pages.length} pages with their links, ${looked.length} of them in Chromium at two widths and in both themes: ${problems.length} complaints in ${seconds} s`,
)
process.exitCode = problems.length === 0 ? 0 : 1
