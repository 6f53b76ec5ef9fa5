import { styleText } from 'node:util'
import type { Terminal, TerminalOutput } from '../terminal.ts'

/** The colours. Colour is never the only carrier of a meaning. */
export type Colour = 'red' | 'yellow' | 'green' | 'bold' | 'dim'

/** Colours a text, or returns it unchanged. */
export type Paint = (colour: Colour, text: string) => string

/** The colours of a stream, if it supports them and they are not turned off. */
export function paintFor(output: TerminalOutput, { env }: Terminal, isAllowed: boolean): Paint {
  // https://no-color.org: any value that is not empty turns colours off.
  const isRefused = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb'
  if (!isAllowed || !output.isTTY || isRefused) return (_, text) => text
  return (colour, text) => styleText(colour, text, { validateStream: false })
}
