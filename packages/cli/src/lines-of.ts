import { isUtf8 } from 'node:buffer'
import { CommandError } from './command-error.ts'
import { exitCodes } from './exit-codes.ts'

const lineFeed = 10

/** The error of input that cannot be read. */
export function unreadable(name: string, error: unknown): CommandError {
  const text = `${name} cannot be read: ${(error as Error).message}`
  return new CommandError('ERR_FILE', text, exitCodes.failed, error)
}

/**
 * The lines of a stream of UTF-8, without line feeds and a byte order mark. `node:readline` also ends lines at the
 * separators of Unicode, which keys may contain, and replaces what is no UTF-8: two keys could become one.
 */
export async function* linesOf(
  name: string,
  stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<string> {
  let number = 0
  let begun: Uint8Array[] = []
  const line = (rest: Uint8Array): string => {
    const bytes = Buffer.concat([...begun, rest])
    begun = []
    number += 1
    if (!isUtf8(bytes)) throw new Error(`line ${number} is not UTF-8`)
    return bytes.toString().replace(number === 1 ? /^\ufeff|\r$/g : /\r$/, '')
  }
  try {
    for await (const chunk of stream) {
      let from = 0
      for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, from)) {
        yield line(chunk.subarray(from, at))
        from = at + 1
      }
      begun.push(chunk.subarray(from))
    }
    const last = line(new Uint8Array())
    if (last !== '') yield last
  } catch (error) {
    throw unreadable(name, error)
  }
}
