/**
 * Calls an action for each key that is pressed, without waiting for Enter, or for each character of
 * a stdin that is no terminal. Returns a function that gives the terminal back.
 */
export function onKeyPresses(actions: Readonly<Record<string, () => void>>): () => void {
  const { stdin } = process
  const onData = (chunk: Buffer): void => {
    for (const key of String(chunk)) actions[key]?.()
  }
  if (stdin.isTTY) stdin.setRawMode(true)
  stdin.on('data', onData)
  stdin.unref?.()
  return () => {
    stdin.off('data', onData)
    if (stdin.isTTY) stdin.setRawMode(false)
    stdin.pause()
  }
}
