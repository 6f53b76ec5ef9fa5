/** An event of a stream. */
export interface ReadEvent {
  readonly event: string
  readonly id: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
  readonly data: any
}

/** Reads the events of a stream, as a browser does. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  #text = ''

  constructor(response: Response) {
    if (response.body === null) throw new Error('the answer has no body')
    this.#reader = response.body.getReader()
  }

  /** The next event; `undefined` once the stream has ended. */
  async next(): Promise<ReadEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end !== -1) {
        const block = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        return parse(block)
      }
      const { done, value } = await this.#reader.read()
      if (done) return undefined
      this.#text += this.#decoder.decode(value, { stream: true })
    }
  }

  /** The next event that is none of these. */
  async nextBut(...events: readonly string[]): Promise<ReadEvent | undefined> {
    for (;;) {
      const event = await this.next()
      if (event === undefined || !events.includes(event.event)) return event
    }
  }

  /** Goes away, as a browser does. */
  async cancel(): Promise<void> {
    await this.#reader.cancel()
  }
}

function parse(block: string): ReadEvent {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const colon = line.indexOf(': ')
    const name = line.slice(0, colon)
    // A browser would join lines of data; ours have one, so a second one is an intruder.
    if (fields.has(name)) throw new Error(`an event with two ${name}: ${block}`)
    fields.set(name, line.slice(colon + 2))
  }
  return {
    event: fields.get('event') ?? 'message',
    id: fields.get('id'),
    data: JSON.parse(fields.get('data') ?? 'null'),
  }
}
