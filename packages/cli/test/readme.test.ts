import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commands } from '../src/commands/commands.ts'
import { cli, scratchFolder } from './cli.ts'

const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

/** A command line of the page, and what is shown below it. */
interface Shown {
  readonly line: string
  readonly prints: string
}

function shownIn(page: string): Shown[] {
  const fences = [...page.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, body = '']) => body)
  return fences.flatMap((body) =>
    body
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [line = '', ...rest] = part.split('\n')
        return { line, prints: rest.join('\n').trimEnd() }
      }),
  )
}

/** What is another each time: instants and ages. */
function settled(printed: string): string {
  return printed
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, 'INSTANT')
    .replaceAll(/\b1\d{12}(?:\.\d+)?\b/g, 'MILLISECONDS')
    .replaceAll(/\b\d+s\b/g, 'AGE')
    .replaceAll(/ {2,}/g, '  ')
    .replaceAll(/ +$/gm, '')
}

/** Runs a line as a shell would that knows `export`, variables and `>`; gives what is printed. */
async function typed(line: string, cwd: string, env: Record<string, string>): Promise<string> {
  const [, name, value] = /^export (\w+)=(\S+)$/.exec(line) ?? []
  if (name !== undefined && value !== undefined) {
    env[name] = value
    return ''
  }
  const [, words = line, file] = /^(.*) > (\S+)$/.exec(line) ?? []
  const [program, ...argv] = words
    .split(' ')
    .map((word) => word.replace(/^\$(\w+)$/, (_, variable: string) => env[variable] ?? ''))
  expect(program).toBe('sluice')
  const { code, out, err } = await cli(argv, { cwd, env })
  expect(code, line).toBe(0)
  if (file === undefined) return (err + out).trimEnd()
  writeFileSync(join(cwd, file), out)
  return err.trimEnd()
}

test('the output on the page is the output of the program', async () => {
  const shown = shownIn(text)
  expect(shown.length).toBeGreaterThan(10)
  const cwd = scratchFolder()
  const env: Record<string, string> = {}
  for (const { line, prints } of shown) {
    const printed = await typed(line, cwd, env)
    expect(`$ ${line}\n${settled(printed)}`).toBe(`$ ${line}\n${settled(prints)}`)
  }
})

test('the page names every command', () => {
  for (const { name, hidden } of commands) {
    if (hidden !== true) expect(text).toContain(`\`${name}\``)
  }
})
