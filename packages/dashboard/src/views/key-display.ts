import { describeValue, isPromise, SluiceTypeError } from '@sluice/core'
import type { KeyInfo, LastError } from 'sluice'
import type { AboutKey, DashboardOptions } from '../dashboard.ts'
import type { KeyLine } from '../wire.ts'

/** Converts keys and errors to what visitors may see of them. */
export class KeyDisplay {
  readonly #hooks: Pick<DashboardOptions, 'redact' | 'redactError'>
  readonly #report: (error: unknown) => void

  constructor(
    hooks: Pick<DashboardOptions, 'redact' | 'redactError'>,
    report: (error: unknown) => void,
  ) {
    this.#hooks = hooks
    this.#report = report
  }

  /** A key as lists show it, with its item only if the request asks for it. */
  line(queue: string, info: KeyInfo, withItem: boolean): KeyLine {
    const { item, lastError, ...rest } = info
    const about = { queue, key: info.key }
    return {
      ...rest,
      // An item that equals the key adds no information.
      hasItem: item !== info.key,
      ...(withItem ? { item: this.#item(item, about) } : {}),
      ...(lastError === undefined ? {} : { lastError: this.error(lastError, about) }),
    }
  }

  #item(item: unknown, about: AboutKey): unknown {
    const { redact } = this.#hooks
    if (redact === undefined) return item
    try {
      const answer = redact(item, about)
      if (isPromise(answer)) this.#refuse('redact(item)', 'a value', answer)
      // `null` stands for values that JSON cannot represent.
      return answer ?? null
    } catch (error) {
      this.#report(error)
      return '(not shown: it could not be redacted)'
    }
  }

  /** The code of an error as visitors may see it; its name stands for a missing code. */
  code(error: LastError, about: AboutKey): string {
    const { code, name } = this.error(error, about)
    return code ?? name
  }

  /** An error as visitors may see it. */
  error(error: LastError, about: AboutKey): LastError {
    const { redactError } = this.#hooks
    if (redactError === undefined) return error
    try {
      const answer: Partial<LastError> | null | undefined = redactError(error, about)
      if (typeof answer !== 'object' || answer === null || isPromise(answer)) {
        this.#refuse('redactError(error)', '{ name, message }', answer)
      }
      const { name = 'Error', message = '', code, stack } = answer
      return {
        name: String(name),
        message: String(message),
        ...(code === undefined ? {} : { code: String(code) }),
        ...(stack === undefined ? {} : { stack: String(stack) }),
      }
    } catch (failure) {
      this.#report(failure)
      return { name: 'Error', message: '(not shown: it could not be redacted)' }
    }
  }

  /** Throws; the rejection of a promise that was returned is reported, and must not end the process. */
  #refuse(hook: string, what: string, answer: unknown): never {
    if (isPromise(answer)) answer.then(undefined, this.#report)
    throw new SluiceTypeError(hook, `must return ${what}; got ${describeValue(answer)}`)
  }
}
