import { spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'

/** How a program ended, and its output, line by line. */
export interface Ended {
  readonly code: number | null
  readonly lines: readonly string[]
}

/** Runs one of the programs of this folder to its end, in a process of its own. */
export async function run(name: string, ...args: readonly string[]): Promise<Ended> {
  const program = new URL(`./programs/${name}.ts`, import.meta.url).pathname
  const flags = ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings']
  const options = [...flags, '--expose-gc', program, ...args]
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
