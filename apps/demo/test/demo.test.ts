// The demo as a user sees it: real processes on a real file.
// real time: it shows a lease ending in another process, which no fake clock reaches.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'sluice-demo-'))
const file = join(folder, 'demo.db')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Show {
  readonly lines: string[]
  readonly child: ChildProcess
  readonly ended: Promise<number | null>
  /** Resolves with the first line that contains a text; rejects if the demo ends without. */
  line(text: string): Promise<string>
}

function show(): Show {
  const child = spawn(
    process.execPath,
    ['--conditions=sluice-source', join(import.meta.dirname, '../src/demo.ts'), '--port=0', file],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const lines: string[] = []
  const waiting: { text: string; resolve: (line: string) => void; reject: (e: Error) => void }[] =
    []
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    for (const { text, resolve } of waiting) if (line.includes(text)) resolve(line)
  })
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      for (const { text, reject } of waiting) reject(new Error(`ended without "${text}"`))
      resolve(code)
    })
  })
  const line = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const found = lines.find((each) => each.includes(text))
      if (found !== undefined) resolve(found)
      else waiting.push({ text, resolve, reject })
    })
  return { lines, child, ended, line }
}

test('a worker is killed, its key comes back, and the queue survives a restart', async () => {
  const first = show()
  await first.line('default/mail fails')
  await first.line('came back after its worker was killed')
  const page = new URL((await first.line('http://')).trim())
  const [, token = ''] = page.hash.split('=')
  page.hash = ''
  expect(await (await fetch(page)).text()).toContain('<script type="module"')
  expect((await fetch(new URL('api/overview', page))).status).toBe(401)
  const signIn = await fetch(new URL('api/sign-in', page), {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: page.origin },
    body: JSON.stringify({ token }),
  })
  const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  const overview = await fetch(new URL('api/overview', page), { headers: { cookie } })
  const { queues } = (await overview.json()) as { queues: { queue: string; workers: number }[] }
  expect(queues.map(({ queue }) => queue)).toEqual(['objects'])
  // The one that was killed counts for a minute, and the one in its place may be there already.
  expect(queues[0]?.workers).toBeGreaterThanOrEqual(2)
  await first.line('default/mail fails (3 of 3)')
  first.child.kill('SIGINT')
  expect(await first.ended).toBe(0)
  expect(first.lines.join('\n')).toMatch(
    /default\/mail is parked after 3 failures: the mail server/,
  )

  const second = show()
  await second.line('from the last time: ')
  second.child.kill('SIGINT')
  expect(await second.ended).toBe(0)
  expect(second.lines.join('\n')).toMatch(/from the last time: \d+ keys to do, \d parked/)
}, 60_000)
