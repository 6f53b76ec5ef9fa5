/** How much may wait for a reader before it is passed over, in bytes. */
const waitingBytesMax: number = 256 * 1024

/** How long a reader may leave lie what waits for it, in milliseconds, before it is cut off. */
const idleMsMax = 30_000

/** What a stream needs to know of the connection that it goes over. */
export interface Connection {
  readonly signal: AbortSignal
  /** Ends the connection at once, if the server has a way to. */
  readonly cutOff: (() => void) | undefined
  /** Whether the reader may go on reading. */
  readonly isGood: () => boolean
}

/**
 * One reader of a view. It is sent what it can take: nothing is kept for a reader that does not
 * read, and one that goes on so is cut off.
 */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>
  /** It has missed something, or has got nothing yet. */
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

  /** Ends the stream if the reader may not go on reading. */
  check(): void {
    if (!this.#connection.isGood()) this.end()
  }

  /** Sends something, unless the reader has not taken yet what was sent before. */
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
      this.#controller?.error(new Error('the reader does not read'))
    }
    this.#ended()
    cutOff?.()
  }

  /** Ends the stream; what was sent can still be read. It can be asked for more than once. */
  end(): void {
    if (this.#isEnded) return
    this.#ended()
    try {
      this.#controller?.close()
    } catch {
      // The reader was faster.
    }
  }

  #ended(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#connection.signal.removeEventListener('abort', this.#onAbort)
    this.#onEnd()
  }
}
