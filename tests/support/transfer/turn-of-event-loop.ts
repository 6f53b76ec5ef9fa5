/** Tells whether timers and input of the process have had their turn since this call. */
export function turnOfEventLoop(): { hasPassed(): boolean } {
  let hasPassed = false
  setImmediate(() => {
    hasPassed = true
  })
  return { hasPassed: () => hasPassed }
}
