import { styleText } from 'node:util'
import type { Terminal, TerminalOutput } from '../terminal.ts'

/** The colours there are: few, and never the only thing that says something. */
export type Colour = 'red' | 'yellow' | 'green' | 'bold' | 'dim'

/** Colours a text, or leaves it as it is. */
export type Paint = (colour: Colour, text: string) => string

/** Colours for a stream, if it shows them and nobody has asked for none. */
export function paintFor(output: TerminalOutput, { env }: Terminal, isAllowed: boolean): Paint {
  // https://no-color.org: whatever it says, if it says anything.
  const isRefused = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb'
  if (!isAllowed || !output.isTTY || isRefused) return (_, text) => text
  return (colour, text) => styleText(colour, text, { validateStream: false })
}
