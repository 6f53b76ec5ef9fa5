/** Over HTTP/1.1, a browser opens six connections to a server for all its windows: two are left for requests. */
const streamsMax = 4

let allowed: Promise<boolean> | undefined

/**
 * Whether this window may open a stream: only a few windows of a browser may at a time. One that may
 * leaves its turn to another when it is hidden or closed.
 */
export function mayStream(): Promise<boolean> {
  allowed ??= takeTurn()
  return allowed
}

async function takeTurn(): Promise<boolean> {
  // Absent where the page is served without TLS by another machine.
  const locks = navigator.locks as LockManager | undefined
  if (locks === undefined) return true
  for (let turn = 0; turn < streamsMax; turn += 1) {
    if (await hasTaken(locks, `stream ${turn}`)) return true
  }
  allowed = undefined
  return false
}

/** Takes a lock if it is free, and holds it while the window is visible. */
function hasTaken(locks: LockManager, name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const hold = (lock: Lock | null): Promise<void> | undefined => {
      resolve(lock !== null)
      if (lock === null) return undefined
      return new Promise((release) => {
        const leave = (): void => {
          allowed = undefined
          release()
        }
        document.addEventListener('visibilitychange', leave, { once: true })
      })
    }
    locks.request(name, { ifAvailable: true }, hold).catch(() => resolve(true))
  })
}
