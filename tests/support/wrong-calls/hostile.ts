import type { Chance } from '@sluice/conformance'

/** Thrown by hostile values themselves: what an argument throws may come back to its caller. */
export class Hostile extends Error {}

function throwing(): never {
  throw new Hostile('an argument throws')
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function circular(): object {
  const value: Record<string, unknown> = {}
  value['self'] = value
  return value
}

/** Values that a caller may pass by mistake; each call makes new ones. */
const values: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => true,
  () => 0,
  () => -0,
  () => -1,
  () => 0.5,
  () => 2 ** 53,
  () => Number.NaN,
  () => Infinity,
  () => -Infinity,
  () => 10n,
  () => '',
  () => 'a',
  () => 'a\0b',
  () => '\ud800',
  () => 'x'.repeat(2_000),
  () => Symbol('a symbol'),
  () => [],
  () => [undefined],
  () => new Array(3),
  () => Object.assign(['a', 'b'], { 5: 'f' }),
  () => ({}),
  () => ({ name: 1, limit: 'a', unknown: true }),
  () => Object.create(null),
  () => new Date(Number.NaN),
  () => new Map(),
  () => new Uint8Array(4),
  () => () => undefined,
  () => throwing,
  () => class {},
  () => new AbortController(),
  () => AbortSignal.abort(),
  circular,
  revoked,
  () => Object.defineProperty({}, 'name', { get: throwing, enumerable: true }),
  () => ({ toString: throwing, toJSON: throwing }),
  () => new Proxy({}, { get: throwing, ownKeys: throwing, has: throwing }),
]

function hostile(chance: Chance): unknown {
  return chance.pick(values)()
}

/** Sound arguments with one thing wrong: an argument, a member of one, or how many there are. */
export function spoiled(sound: readonly unknown[], chance: Chance): unknown[] {
  const args = [...sound]
  const index = chance.below(args.length + 1)
  const member = args[index]
  const isPlain = typeof member === 'object' && member !== null && !Array.isArray(member)
  if (index === args.length) args.pop()
  else if (isPlain && Object.getPrototypeOf(member) === Object.prototype && chance.happens(0.7)) {
    const name = chance.pick([...Object.keys(member), 'signal', 'unknown'])
    args[index] = { ...member, [name]: hostile(chance) }
  } else args[index] = hostile(chance)
  return args
}
