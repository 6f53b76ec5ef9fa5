import type { Driver } from '@sluice/core'

/** The power fails at a certain step, before or after it takes effect. */
export class PowerCut {
  stepsLeft: number
  readonly isAfter: boolean
  /** The names of the steps that were taken. */
  readonly steps: string[] = []

  constructor(stepsLeft: number, isAfter: boolean) {
    this.stepsLeft = stepsLeft
    this.isAfter = isAfter
  }

  async around(step: string, take: () => unknown): Promise<unknown> {
    this.stepsLeft -= 1
    if (this.stepsLeft === 0 && !this.isAfter) throw new Error(`power cut before ${step}`)
    const answer = await take()
    this.steps.push(step)
    if (this.stepsLeft === 0) throw new Error(`power cut after ${step}`)
    return answer
  }
}

const groups: ReadonlySet<PropertyKey> = new Set(['operate', 'transfer'])
/** The store is open before the power fails, and stays so for later looks at it. */
const ignored: ReadonlySet<PropertyKey> = new Set(['open', 'close'])
const absent: ReadonlySet<PropertyKey> = new Set(['watch', 'direct'])

/** A driver around one that is open, each of whose verbs is a step at which the power may fail. */
export function withPowerCut(driver: Driver, cut: PowerCut, name: string): Driver {
  return withCut(driver, cut, name) as Driver
}

function withCut(target: object, cut: PowerCut, name: string): object {
  return new Proxy(target, {
    get(_, property) {
      const value = Reflect.get(target, property, target) as unknown
      if (groups.has(property)) return withCut(value as object, cut, name)
      if (typeof value !== 'function') return value
      if (ignored.has(property)) return () => undefined
      if (absent.has(property)) return undefined
      const verb = value.bind(target) as (...rest: unknown[]) => unknown
      return (...rest: unknown[]) => cut.around(`${name}.${String(property)}`, () => verb(...rest))
    },
  })
}
