import { existsSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises' // real time: other processes

/**
 * One line of the record that stands outside the store. Instants are milliseconds of the machine's
 * monotonic clock, which all processes share.
 */
export type Line =
  /** A process begins to write; the processes of a run have different names. */
  | { readonly what: 'process'; readonly at: number; readonly process: string }
  /** An add is sent; `add` numbers the adds of a process. */
  | { readonly what: 'sent'; readonly at: number; readonly add: number; readonly key: string }
  /** The add was acknowledged. */
  | { readonly what: 'acknowledged'; readonly at: number; readonly add: number }
  /** The process adds nothing more, and each of its adds has ended. */
  | { readonly what: 'added all'; readonly at: number }
  /** A handler begins. */
  | {
      readonly what: 'began'
      readonly at: number
      readonly key: string
      readonly token: number
      /** How many crashes are counted for the key. */
      readonly crashes?: number
    }
  /** The handler's signal is aborted, or it has returned. */
  | {
      readonly what: 'ended'
      readonly at: number
      readonly key: string
      readonly token: number
      readonly isAborted?: boolean
    }
  /** The store has acknowledged that the run is finished. */
  | { readonly what: 'finished'; readonly at: number; readonly key: string; readonly token: number }
  /** A promise of the library was pending for so long, in which the process waited for a processor. */
  | {
      readonly what: 'pending'
      readonly at: number
      readonly ms: number
      readonly unservedMs?: number
      readonly call: string
    }
  /** The process did not get to its own timers for so long. */
  | { readonly what: 'held up'; readonly at: number; readonly ms: number }
  /** The process that only watches did not get to its timers either: the machine stood still. */
  | { readonly what: 'stalled'; readonly at: number; readonly ms: number }
  /** The process was stopped and continued; written by the process that did it. */
  | {
      readonly what: 'paused'
      readonly at: number
      readonly until: number
      readonly process: string
    }

/** What is read of one process: its lines, in their order. */
export type Record = readonly Line[]

/** Reads a record; the last line of a process that was killed may be half a line. */
export function readRecord(text: string): Record {
  const lines = text.split('\n')
  return lines.flatMap((line, index): Line[] => {
    if (line === '') return []
    try {
      return [JSON.parse(line) as Line]
    } catch (error) {
      if (index >= lines.length - 1) return []
      throw new Error(`line ${index + 1} of a record is damaged: ${line}`, { cause: error })
    }
  })
}

/** Waits until a process has written a line of a kind, or that is not to be expected any more. */
export async function untilWritten(
  path: string,
  what: Line['what'],
  isOver: () => boolean,
): Promise<void> {
  const part = `"what":"${what}"`
  while (!isOver() && !(existsSync(path) && readFileSync(path, 'utf8').includes(part))) {
    // real time: another process is at work.
    await setTimeout(100)
  }
}
