/** How many bytes may be buffered for a reader before it is skipped. */
const waitingBytesMax: number = 256 * 1024

/** How long a reader may leave its buffer unread before its connection is closed, in milliseconds. */
const idleMsMax = 30_000

/** The connection of a stream. */
export interface Connection {
  readonly signal: AbortSignal
  /** Closes the connection at once, if the server supports that. */
  readonly cutOff: (() => void) | undefined
  /** Whether the visitor is still signed in. */
  readonly mayRead: () => boolean
}

/**
 * The event stream of one reader. Events for a reader that has stopped reading are dropped, and its
 * connection is closed if it does not resume.
 */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>
  /** True before the first event, and after an event was dropped. */
  needsSnapshot = true
  readonly #connection: Connection
  readonly #onEnd: () => void
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #idleSince: number | undefined
  #isEnded = false

  constructor(connection: Connection, onEnd: (stream: EventStream) => void) {
    this.#connection = connection
    this.#onEnd = () => onEnd(this)
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        cancel: () => this.#ended(),
      },
      { highWaterMark: waitingBytesMax, size: (chunk) => chunk?.byteLength ?? 0 },
    )
    connection.signal.addEventListener('abort', this.#onAbort, { once: true })
    if (connection.signal.aborted) this.end()
  }

  readonly #onAbort = (): void => this.end()

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Ends the stream if the visitor is no longer signed in. */
  check(): void {
    if (!this.#connection.mayRead()) this.end()
  }

  /** Sends an event, unless the reader's buffer is full; returns whether it was sent. */
  send(bytes: Uint8Array, nowMs: number): boolean {
    this.check()
    if (this.#isEnded || this.#controller === undefined) return false
    if ((this.#controller.desiredSize ?? 0) <= 0) {
      this.needsSnapshot = true
      this.#idleSince ??= nowMs
      if (nowMs - this.#idleSince >= idleMsMax) this.#drop()
      return false
    }
    this.#idleSince = undefined
    this.#controller.enqueue(bytes)
    return true
  }

  #drop(): void {
    const { cutOff } = this.#connection
    if (cutOff === undefined) {
      this.#controller?.error(new Error('the reader has stopped reading'))
    }
    this.#ended()
    cutOff?.()
  }

  /** Ends the stream; events already sent can still be read. May be called more than once. */
  end(): void {
    if (this.#isEnded) return
    this.#ended()
    this.#controller?.close()
  }

  #ended(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#connection.signal.removeEventListener('abort', this.#onAbort)
    this.#onEnd()
  }
}
