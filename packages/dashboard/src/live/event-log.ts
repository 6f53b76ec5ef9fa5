/** An event as it goes over the wire, and the id by which a reader says that it has it. */
export interface LoggedEvent {
  readonly id: number
  readonly bytes: Uint8Array
}

const encoder = new TextEncoder()

/** An event of a stream, as bytes. JSON has no line ends, so one line holds the data. */
export function eventBytes(event: string, data: object, id?: number): Uint8Array {
  const head = id === undefined ? '' : `id: ${id}\n`
  return encoder.encode(`${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
}

/** How much is kept for readers who come back. */
const limits = { events: 200, bytes: 512 * 1024 }

/** The last events of a view, for readers who were cut off. */
export class EventLog {
  #events: LoggedEvent[] = []
  #bytes = 0
  /** The event that readers are told to have who got a snapshot. */
  lastId: number | undefined

  add(event: LoggedEvent): void {
    this.#events.push(event)
    this.#bytes += event.bytes.byteLength
    this.lastId = event.id
    while (this.#events.length > limits.events || this.#bytes > limits.bytes) {
      this.#bytes -= this.#events.shift()?.bytes.byteLength ?? 0
    }
  }

  /** What somebody missed who has the event of this id; `undefined` if that is not known. */
  after(id: number): readonly LoggedEvent[] | undefined {
    if (id === this.lastId) return []
    const at = this.#events.findIndex((event) => event.id === id)
    return at === -1 ? undefined : this.#events.slice(at + 1)
  }
}
