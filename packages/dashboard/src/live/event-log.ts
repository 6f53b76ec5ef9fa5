/** An encoded event, and the id that a reader sends back after a reconnect. */
export interface LoggedEvent {
  readonly id: number
  readonly bytes: Uint8Array
}

const encoder = new TextEncoder()

/** Encodes a server-sent event. JSON contains no line breaks, so the data fits one line. */
export function eventBytes(event: string, data: object, id?: number): Uint8Array {
  const head = id === undefined ? '' : `id: ${id}\n`
  return encoder.encode(`${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
}

/** How many events and bytes are kept for readers that reconnect. */
const limits = { events: 200, bytes: 512 * 1024 }

/** The last events of a view, for readers that reconnect. */
export class EventLog {
  #events: LoggedEvent[] = []
  #bytes = 0
  /** The id that a snapshot carries. */
  lastId: number | undefined

  add(event: LoggedEvent): void {
    this.#events.push(event)
    this.#bytes += event.bytes.byteLength
    this.lastId = event.id
    while (this.#events.length > limits.events || this.#bytes > limits.bytes) {
      this.#bytes -= this.#events.shift()?.bytes.byteLength ?? 0
    }
  }

  /** The events after an id; `undefined` if that event is no longer kept. */
  after(id: number): readonly LoggedEvent[] | undefined {
    if (id === this.lastId) return []
    const at = this.#events.findIndex((event) => event.id === id)
    return at === -1 ? undefined : this.#events.slice(at + 1)
  }
}
