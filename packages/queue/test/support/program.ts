import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** How a program ended, and its output, line by line. */
export interface Ended {
  readonly code: number | null
  readonly lines: readonly string[]
}

const flags = ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings']

function programOf(name: string): string {
  return fileURLToPath(new URL(`./programs/${name}.ts`, import.meta.url))
}

/** Runs a program with these variables in its environment; resolves to what it wrote to stderr. */
export async function spawnProgram(
  name: string,
  variables: Readonly<Record<string, string>>,
): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const child = spawn(process.execPath, [...flags, programOf(name)], {
    stdio: ['ignore', 'inherit', 'pipe'],
    env: { ...process.env, ...variables },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk)
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, stderr }
}

/** Runs one of the programs of this folder to its end, in a process of its own. */
export async function run(name: string, ...args: readonly string[]): Promise<Ended> {
  const options = [...flags, '--expose-gc', programOf(name), ...args]
  const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += String(chunk)
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, lines: said.trim().split('\n') }
}
