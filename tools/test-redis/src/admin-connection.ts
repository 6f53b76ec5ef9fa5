import { connect, type Socket } from 'node:net'

/** A reply of Redis. */
export type Reply = string | number | null | Error | Reply[]

/** The bytes of a command. */
function encode(args: readonly (string | number)[]): string {
  const parts = args.map(String)
  return `*${parts.length}\r\n${parts.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`).join('')}`
}

/** Reads one reply at `at`; `undefined` while it is not complete. */
function decode(bytes: Buffer, at: number): { reply: Reply; end: number } | undefined {
  const lineEnd = bytes.indexOf('\r\n', at)
  if (lineEnd < 0) return undefined
  const kind = bytes[at]
  const line = bytes.toString('utf8', at + 1, lineEnd)
  let end = lineEnd + 2
  if (kind === 0x2b) return { reply: line, end }
  if (kind === 0x2d) return { reply: new Error(line), end }
  if (kind === 0x3a) return { reply: Number(line), end }
  const length = Number(line)
  if (length < 0) return { reply: null, end }
  if (kind === 0x24) {
    if (bytes.length < end + length + 2) return undefined
    return { reply: bytes.toString('utf8', end, end + length), end: end + length + 2 }
  }
  const list: Reply[] = []
  for (let index = 0; index < length; index += 1) {
    const next = decode(bytes, end)
    if (next === undefined) return undefined
    list.push(next.reply)
    end = next.end
  }
  return { reply: list, end }
}

/** A connection for the commands of a test, which belongs to no client library. */
export class AdminConnection {
  readonly #socket: Socket
  readonly #waiting: { resolve(reply: Reply): void; reject(error: Error): void }[] = []
  #bytes = Buffer.alloc(0)
  #error: Error | undefined

  constructor(port: number, host: string) {
    this.#socket = connect({ port, host, noDelay: true })
    this.#socket.on('data', (chunk) => this.#read(chunk))
    this.#socket.on('error', (error) => {
      this.#error = error
    })
    this.#socket.on('close', () => {
      this.#error ??= new Error('the connection was closed')
      for (const { reject } of this.#waiting.splice(0)) reject(this.#error)
    })
  }

  get isOpen(): boolean {
    return this.#error === undefined
  }

  /** Sends a command. Rejects with the error of the server, or when the connection is lost. */
  async send(args: readonly (string | number)[]): Promise<Reply> {
    if (this.#error !== undefined) throw this.#error
    const reply = await new Promise<Reply>((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#socket.ref()
      this.#socket.write(encode(args))
    })
    if (reply instanceof Error) throw reply
    return reply
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    let at = 0
    for (;;) {
      const next = decode(this.#bytes, at)
      if (next === undefined) break
      at = next.end
      this.#waiting.shift()?.resolve(next.reply)
    }
    this.#bytes = this.#bytes.subarray(at)
    // Only a reply that is awaited keeps the process alive.
    if (this.#waiting.length === 0) this.#socket.unref()
  }
}
