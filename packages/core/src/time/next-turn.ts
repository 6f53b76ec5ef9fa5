/** What can be told not to keep the process alive. */
interface Turn {
  unref(): unknown
}

/**
 * Runs a function in the next turn of the event loop, after input and output. Taken when the module
 * loads, so that a test runner's fake timers do not stop it.
 */
export const nextTurn: (callback: () => void) => Turn =
  typeof setImmediate === 'function' ? setImmediate : postTurn

/** The same in a browser, whose timers would wait for 4 ms after a few turns, or for 1 s in a background tab. */
function postTurn(callback: () => void): Turn {
  const { port1, port2 } = new MessageChannel()
  const arrived = (): void => {
    port1.close()
    callback()
  }
  Object.assign(port1, { onmessage: arrived })
  port2.postMessage(undefined)
  return { unref: () => {} }
}
