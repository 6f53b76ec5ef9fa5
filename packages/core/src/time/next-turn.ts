// As a free name, some bundlers for browsers would bring a substitute for it.
const { process } = globalThis as Partial<typeof globalThis>

/**
 * Runs a function in the next turn of the event loop, after input and output. Taken when the module
 * loads, so that a test runner's fake timers do not stop it; from the module of Node, since those of Jest may
 * have replaced the global before.
 */
export const nextTurn: (callback: () => void) => { unref(): unknown } =
  process?.getBuiltinModule?.('node:timers')?.setImmediate ??
  (typeof setImmediate === 'function' ? setImmediate : turnsOfMessages())

/**
 * The same in a browser, whose timers would wait for 4 ms after a few turns, or for 1 s in a
 * background tab. One channel for all, because messages of several may overtake each other.
 */
function turnsOfMessages(): (callback: () => void) => { unref(): unknown } {
  const waiting: (() => void)[] = []
  const turn = { unref: () => turn }
  let port: { postMessage(message: undefined): void } | undefined
  return (callback) => {
    waiting.push(callback)
    port ??= portTo(() => waiting.shift()?.())
    port.postMessage(undefined)
    return turn
  }
}

/** A port each message to which is a call. */
function portTo(receive: () => void): { postMessage(message: undefined): void } {
  const { port1, port2 } = new MessageChannel()
  Object.assign(port1, { onmessage: receive })
  return port2
}
