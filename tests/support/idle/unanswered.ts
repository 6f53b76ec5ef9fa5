import { Socket } from 'node:net'
import { onTestFinished, vi } from 'vitest'

/**
 * Watches the connections of this process until the test ends. The function that it returns tells whether
 * something was sent over one of them that has received nothing since.
 */
export function watchUnanswered(): () => boolean {
  /** The bytes that a connection had received when something was last sent over it. */
  const received = new Map<Socket, number>()
  const write = Socket.prototype.write as (...args: unknown[]) => boolean
  const spy = vi.spyOn(Socket.prototype, 'write').mockImplementation(function (
    this: Socket,
    ...args: unknown[]
  ) {
    // The pipe of stderr is a socket that receives nothing.
    if (this.readable) received.set(this, this.bytesRead)
    return Reflect.apply(write, this, args)
  })
  onTestFinished(() => spy.mockRestore())
  return () => {
    for (const [socket, before] of received) {
      if (socket.destroyed || socket.bytesRead > before) received.delete(socket)
    }
    return received.size > 0
  }
}
