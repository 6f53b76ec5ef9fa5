// Draws the moving picture of the front page from a run of a real queue: a downstream breaks, its
// keys wait longer and longer, `explain` says why, and they are done once it is fixed.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Playground, sentenceOf } from './playground.mjs'

const endMs = 24_000
const loopSeconds = 14
const breaksMs = 3_500
const fixedMs = 13_000
const watched = 'order/3'

const colours = {
  light: { text: '#1f2328', soft: '#55555c', line: '#d8dbe0', back: '#ffffff', wait: '#a34a00' },
  dark: { text: '#f0f3f6', soft: '#b4b4bc', line: '#3c4149', back: '#1b1b1f', wait: '#f0a35e' },
}
const run = { ok: '#2a9d63', failed: '#d64a3f' }

/** Runs the queue and writes down what happens. */
async function record() {
  const playground = new Playground()
  const plan = [
    [0, 'add', 'order/1'],
    [0, 'add', 'order/2'],
    [500, 'add', 'order/1'],
    [2_500, 'add', watched],
    [breaksMs, 'break'],
    [6_000, 'add', 'order/2'],
    [fixedMs, 'fix'],
  ]
  const said = []
  for (let ms = 0; ms <= endMs; ms += 500) {
    await playground.goTo(ms)
    for (const [at, what, key] of plan) if (at === ms) await playground.act(what, key)
    const { explanation } = await playground.look(watched)
    said.push({ ms, text: ms < 2_500 ? '' : shortOf(explanation) })
  }
  const adds = plan.filter(([, what]) => what === 'add').map(([at, , key]) => ({ at, key }))
  return { runs: playground.runs, adds, said }
}

function shortOf(explanation) {
  if (explanation.state === 'absent') return 'done'
  if (explanation.state === 'processing') return 'a worker is running it'
  return sentenceOf(explanation).split('. ')[0].replace(/\.$/, '').toLowerCase()
}

function draw({ runs, adds, said }, theme, width) {
  const colour = colours[theme]
  const isNarrow = width < 500
  const font = isNarrow ? 13 : 15
  const left = isNarrow ? 78 : 88
  const right = width - 14
  const x = (ms) => (left + ((right - left) * ms) / endMs).toFixed(1)
  const rowHeight = isNarrow ? 38 : 44
  const top = 46
  const keys = [...new Set(adds.map(({ key }) => key))]
  const bottom = top + keys.length * rowHeight
  const height = bottom + (isNarrow ? 86 : 64)
  const shown = []
  const rowOf = (key) => top + keys.indexOf(key) * rowHeight

  for (const key of keys) {
    const own = runs.filter((one) => one.key === key)
    const y = rowOf(key) + 10
    own.forEach((one, index) => {
      const to = one.to ?? endMs
      const before = own[index - 1]
      if (before?.ok === false) {
        const from = x(before.to)
        shown.push(
          `<line x1="${from}" x2="${x(one.from)}" y1="${y + 8}" y2="${y + 8}" stroke="${colour.wait}" stroke-width="2" stroke-dasharray="3 4"/>`,
        )
      }
      const fill = one.ok === false ? run.failed : run.ok
      const barWidth = (x(to) - x(one.from) - 1).toFixed(1)
      shown.push(
        `<rect x="${x(one.from)}" y="${y}" width="${barWidth}" height="16" rx="4" fill="${fill}"/>`,
      )
    })
  }
  for (const { at, key } of adds) {
    const px = Number(x(at))
    const y = rowOf(key)
    shown.push(`<path d="M${px - 4} ${y} h8 l-4 7 z" fill="${colour.text}"/>`)
  }

  const frames = said.map(({ ms, text }, index) => {
    const from = (100 * ms) / endMs
    const to = index + 1 < said.length ? (100 * said[index + 1].ms) / endMs : 100
    return { index, text, from, to }
  })
  const merged = []
  for (const frame of frames) {
    const last = merged.at(-1)
    if (last?.text === frame.text) last.to = frame.to
    else if (frame.text !== '') merged.push({ ...frame })
  }
  const steps = merged
    .map(({ index, from, to }) => {
      const begin = from === 0 ? '' : `0%,${(from - 0.01).toFixed(2)}%{opacity:0}`
      const end = to >= 100 ? '100%{opacity:1}' : `${to.toFixed(2)}%,100%{opacity:0}`
      return `@keyframes s${index}{${begin}${from.toFixed(2)}%,${(to - 0.01).toFixed(2)}%{opacity:1}${end}}#s${index}{animation:s${index} ${loopSeconds}s step-end infinite}`
    })
    .join('')
  const last = merged.at(-1)
  const baseline = bottom + (isNarrow ? 54 : 52)
  const texts = merged
    .map(({ index, text }) => {
      // A phone has no room for the whole sentence on a line.
      const lines = isNarrow ? text.split(/(?<=,) /) : [text]
      const spans = lines.map(
        (line, row) => `<tspan x="14" y="${baseline + row * 19}">${line}</tspan>`,
      )
      return `<text id="s${index}" class="said">${spans.join('')}</text>`
    })
    .join('')
  const labels = keys
    .map((key) => `<text class="key" x="14" y="${rowOf(key) + 23}">${key}</text>`)
    .join('')
  const broken = `<rect x="${x(breaksMs)}" y="${top - 16}" width="${(x(fixedMs) - x(breaksMs)).toFixed(1)}" height="${bottom - top + 16}" fill="${run.failed}" opacity=".1"/><text class="soft" x="${(Number(x(breaksMs)) + 4).toFixed(1)}" y="${top - 20}">the downstream is broken</text>`

  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Runs of three keys over ${endMs / 1000} seconds: a downstream breaks, failed keys wait longer each time, and all are done after it is fixed">
<style>text{font:${font}px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:${colour.text}}.soft{font-size:${font - 1}px;fill:${colour.soft}}.said{opacity:0}.curtain{animation:go ${loopSeconds}s linear infinite}@keyframes go{from{transform:translateX(0)}to{transform:translateX(${right - left}px)}}${steps}@media (prefers-reduced-motion:reduce){.curtain,.said{animation:none!important}.curtain{visibility:hidden}#s${last?.index ?? 0}{opacity:1}}</style>
<rect width="${width}" height="${height}" rx="14" fill="${colour.back}" stroke="${colour.line}"/>
${broken}
${shown.join('\n')}
<clipPath id="c"><rect x="${left}" y="0" width="${right - left + 1}" height="${bottom}"/></clipPath>
<g clip-path="url(#c)"><g class="curtain"><rect x="${left}" y="1" width="${width}" height="${bottom - 2}" fill="${colour.back}"/><line x1="${left}" x2="${left}" y1="${top - 16}" y2="${bottom}" stroke="${colour.text}" stroke-width="2"/></g></g>
${labels}
<line x1="14" x2="${width - 14}" y1="${bottom + 6}" y2="${bottom + 6}" stroke="${colour.line}"/>
<text class="soft" x="14" y="${bottom + (isNarrow ? 32 : 28)}">explain('${watched}')</text>
${texts}
</svg>
`
}

// Writes the picture for both themes, wide and narrow, into the folder that is named.
const folder = process.argv[2]
const happened = await record()
mkdirSync(folder, { recursive: true })
for (const theme of Object.keys(colours)) {
  writeFileSync(join(folder, `broken-downstream-${theme}.svg`), draw(happened, theme, 620))
  writeFileSync(join(folder, `broken-downstream-${theme}-narrow.svg`), draw(happened, theme, 350))
}
