import { inspect } from 'node:util'
import type { Driver } from '@sluice/core'

/** What was asked of a driver and what it answered, one line for each call. */
export type CallLog = string[]

const lineMax = 240

function shown(value: unknown): string {
  const text = inspect(value, { breakLength: Infinity, depth: 4, maxArrayLength: 6 })
  return text.length > lineMax ? `${text.slice(0, lineMax)}…` : text
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value
}

function recordedCalls<T extends object>(target: T, prefix: string, log: CallLog): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') {
        const isOperate = name === 'operate' && typeof value === 'object' && value !== null
        return isOperate ? recordedCalls(value, `${prefix}operate.`, log) : value
      }
      return (...args: unknown[]) => {
        const line = log.push(`${prefix}${String(name)}(${args.map(shown).join(', ')})`) - 1
        const note = (outcome: string): void => {
          log[line] += ` → ${outcome}`
        }
        try {
          const answer: unknown = Reflect.apply(value, target, args)
          if (!isPromise(answer)) {
            note(shown(answer))
            return answer
          }
          return answer.then(
            (settled) => {
              note(shown(settled))
              return settled
            },
            (error: unknown) => {
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

/** The same driver, writing every call and its answer to `log`. */
export function recorded(driver: Driver, log: CallLog, prefix = ''): Driver {
  return recordedCalls(driver, prefix, log)
}
