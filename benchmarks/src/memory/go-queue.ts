import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Sample } from './measure.ts'

const sources = join(import.meta.dirname, '../../go')

/** The contestants that run the Go queue, and the version of client-go that it follows. */
export const goVersions = { Go: 'now', 'Go 0.31': '0.31' } as const

/** What a sample is of; see ../../go/main.go. */
export interface GoRequest {
  readonly workload: string
  readonly version: (typeof goVersions)[keyof typeof goVersions]
  readonly first: number
  readonly keyCount: number
  readonly count: number
  readonly what: 'time' | 'heap'
}

/**
 * Tests the Go queue by the rules it follows, and builds it: the path of its program, or
 * `undefined` if there is no Go.
 */
export function buildGoQueue(): string | undefined {
  const go = (...args: string[]): string =>
    execFileSync('go', args, {
      cwd: sources,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  try {
    go('version')
  } catch {
    return undefined
  }
  const program = join(mkdtempSync(join(tmpdir(), 'sluice-go-queue-')), 'queue')
  go('vet', '.')
  go('test', '-count=1', '.')
  go('build', '-o', program, '.')
  return program
}

/** The Go queue in a process of its own, which does nothing until it is asked for a sample. */
export class GoQueue {
  readonly #child: ChildProcess
  readonly #answers: Interface

  constructor(program: string) {
    this.#child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#answers = createInterface({ input: this.#child.stdout! })
  }

  async sample({ workload, version, first, keyCount, count, what }: GoRequest): Promise<Sample> {
    this.#child.stdin!.write(`${workload} ${version} ${first} ${keyCount} ${count} ${what}\n`)
    const [line] = (await once(this.#answers, 'line')) as [string]
    return JSON.parse(line) as Sample
  }

  close(): void {
    this.#child.stdin!.end()
  }
}
