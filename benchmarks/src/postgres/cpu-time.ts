import { readdirSync, readFileSync } from 'node:fs'

/** How long a tick of the counters in /proc is, in milliseconds; so on every Linux. */
const tickMs = 10

interface Process {
  readonly parent: number
  readonly ms: number
}

function processes(): ReadonlyMap<number, Process> {
  const found = new Map<number, Process>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8')
      // After the command, which may contain anything: state, parent, ..., own and children's time.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
      found.set(Number(name), { parent: Number(fields[1]), ms: ticks * tickMs })
    } catch {
      // It has ended meanwhile; its parent counts it.
    }
  }
  return found
}

/** This process and those below it. */
function ours(): ReadonlyMap<number, Process> {
  const all = processes()
  const isBelow = (id: number): boolean => {
    for (let at = id; at > 1; at = all.get(at)?.parent ?? 0) if (at === process.pid) return true
    return false
  }
  return new Map([...all].filter(([id]) => isBelow(id)))
}

/**
 * How long this process and those below it, the server among them, have computed, in milliseconds;
 * 0 where the system does not say. On a machine that others use as well it says more than time.
 */
export function cpuMs(): number {
  try {
    let sum = 0
    for (const { ms } of ours().values()) sum += ms
    return sum
  } catch {
    return 0
  }
}

/**
 * How long the processes below this one that are still there have computed, in microseconds: finer
 * than ticks. Counts one thread of each, which is all that a server has.
 */
export function serverCpuUs(): number {
  try {
    let sum = 0
    for (const id of ours().keys()) {
      if (id === process.pid) continue
      sum += Number(readFileSync(`/proc/${id}/schedstat`, 'utf8').split(' ')[0]) / 1_000
    }
    return sum
  } catch {
    return 0
  }
}
