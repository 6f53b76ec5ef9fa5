import { inspect } from 'node:util'
import type { Driver } from '@sluice/core'

/** The calls of a driver with their answers, one line for each call. */
export class CallLog {
  readonly lines: string[] = []
  /** Calls are logged only while this is true: some histories are too long to be read. */
  isOn = true
  /** The number of calls without an answer. */
  inFlight = 0

  /** Writes a line, and returns its index. */
  write(line: string): number {
    return this.isOn ? this.lines.push(line) - 1 : -1
  }

  /** Appends to a line. */
  append(index: number, text: string): void {
    if (this.isOn && index >= 0) this.lines[index] += text
  }
}

const lineMax = 240

function shown(value: unknown): string {
  const text = inspect(value, { breakLength: Infinity, depth: 4, maxArrayLength: 6 })
  return text.length > lineMax ? `${text.slice(0, lineMax)}…` : text
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value
}

/** Members that are groups of verbs. */
const groups: ReadonlySet<PropertyKey> = new Set(['operate', 'transfer'])

function recordedCalls<T extends object>(target: T, prefix: string, log: CallLog): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') {
        const isGroup = groups.has(name) && typeof value === 'object' && value !== null
        return isGroup ? recordedCalls(value, `${prefix}${String(name)}.`, log) : value
      }
      return (...args: unknown[]) => {
        if (!log.isOn) return Reflect.apply(value, target, args)
        const index = log.write(`${prefix}${String(name)}(${args.map(shown).join(', ')})`)
        const note = (outcome: string): void => log.append(index, ` → ${outcome}`)
        try {
          const answer: unknown = Reflect.apply(value, target, args)
          if (!isPromise(answer)) {
            note(shown(answer))
            return answer
          }
          log.inFlight += 1
          return answer.then(
            (answer) => {
              log.inFlight -= 1
              note(shown(answer))
              return answer
            },
            (error: unknown) => {
              log.inFlight -= 1
              note(`rejected: ${String(error)}`)
              throw error
            },
          )
        } catch (error) {
          note(`threw: ${String(error)}`)
          throw error
        }
      }
    },
  })
}

/** The same driver, which logs every call and its answer to `log`. */
export function recorded(driver: Driver, log: CallLog, prefix = ''): Driver {
  return recordedCalls(driver, prefix, log)
}
