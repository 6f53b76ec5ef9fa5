import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  checkBoolean,
  checkDelay,
  checkFunction,
  checkNumber,
  checkObject,
  checkOneOf,
  checkSignal,
  checkString,
  closest,
} from '../src/checks/check.ts'
import { delayMsMax } from '../src/limits.ts'
import { refused } from './refused.ts'

const notNumbers = [
  '5',
  5n,
  null,
  undefined,
  true,
  new Date(),
  new Date(Number.NaN),
  Object(5),
  [5],
]

describe('checkNumber', () => {
  test('any finite number passes and comes back untouched', () => {
    for (const value of [0, -0, 0.5, -1, 1e-9, 2 ** 31, 2 ** 53, 1e308, -Number.MAX_VALUE]) {
      assert.ok(Object.is(checkNumber('n', value), value))
    }
  })

  test('what is no number is the wrong type, NaN too', () => {
    for (const value of [...notNumbers, Number.NaN]) {
      refused('type', 'n', () => checkNumber('n', value), /must be a number; got /)
    }
  })

  test('infinities are out of range of any limits', () => {
    for (const value of [Infinity, -Infinity]) {
      refused('range', 'n', () => checkNumber('n', value), /a number, and finite; got -?Infinity/)
      refused('range', 'n', () => checkNumber('n', value, { min: 0, integer: true }))
      refused('range', 'n', () =>
        checkNumber('n', value, { min: -Infinity, max: Infinity, above: 1 }),
      )
    }
  })

  test('min and max are allowed, above is not', () => {
    const limits = { min: 1, max: 5 }
    for (const value of [1, 1.5, 5]) assert.equal(checkNumber('n', value, limits), value)
    for (const value of [0, 0.999, 5.001]) {
      refused('range', 'n', () => checkNumber('n', value, limits), /a number from 1 to 5; got /)
    }
    assert.equal(checkNumber('n', 5e-324, { above: 0 }), 5e-324)
    refused('range', 'n', () => checkNumber('n', 0, { above: 0 }), /a number above 0; got 0/)
    refused('range', 'n', () => checkNumber('n', -0, { above: 0 }), /above 0; got -0/)
    refused(
      'range',
      'n',
      () => checkNumber('n', 9, { above: 0, max: 8 }),
      /above 0 and not above 8/,
    )
    refused('range', 'n', () => checkNumber('n', -1, { min: 0 }), /a number not below 0; got -1/)
    assert.ok(Object.is(checkNumber('n', -0, { min: 0 }), -0))
  })

  test('whole numbers are safe ones', () => {
    const limits = { integer: true }
    assert.equal(checkNumber('n', 2 ** 53 - 1, limits), 2 ** 53 - 1)
    for (const value of [0.5, 2 ** 53, 1e300]) {
      refused('range', 'n', () => checkNumber('n', value, limits), /a whole number; got /)
    }
    refused(
      'type',
      'n',
      () => checkNumber('n', '1', { integer: true, min: 1, max: 9 }),
      /from 1 to 9/,
    )
  })
})

describe('checkDelay', () => {
  test('zero, less, fractions and up to ten years pass', () => {
    for (const ms of [0, -0, -1, -1e308, 0.5, 1e-9, 2 ** 31, delayMsMax]) {
      assert.ok(Object.is(checkDelay('ms', ms), ms))
    }
  })

  test('more, and infinities, are out of range', () => {
    for (const ms of [delayMsMax + 0.1, 2 ** 53, 1e15, 1e308, Infinity, -Infinity]) {
      refused('range', 'ms', () => checkDelay('ms', ms), /at most 315576000000 ms.*ten years; got/)
    }
  })

  test('everything else is the wrong type', () => {
    for (const ms of [...notNumbers, Number.NaN, new Date(8.64e15)]) {
      refused('type', 'ms', () => checkDelay('ms', ms), /must be a number of milliseconds; got /)
    }
  })
})

describe('checkBoolean', () => {
  test('true and false, and nothing like them', () => {
    assert.equal(checkBoolean('b', true), true)
    assert.equal(checkBoolean('b', false), false)
    for (const value of [0, 1, '', 'true', null, undefined, Object(true)]) {
      refused('type', 'b', () => checkBoolean('b', value), /must be true or false; got /)
    }
  })
})

describe('checkString', () => {
  test('strings pass, also empty ones unless that is refused', () => {
    assert.equal(checkString('s', 'x'), 'x')
    assert.equal(checkString('s', ''), '')
    assert.equal(checkString('s', 'x', { empty: false }), 'x')
    refused('range', 's', () => checkString('s', '', { empty: false }), /must not be empty/)
    for (const value of [5, null, undefined, Object('x'), ['x'], Symbol('x'), Buffer.from('x')]) {
      refused('type', 's', () => checkString('s', value), /must be a string; got /)
    }
  })

  test('length is counted in bytes of UTF-8', () => {
    assert.equal(checkString('s', 'äöü', { bytesMax: 6 }), 'äöü')
    refused('range', 's', () => checkString('s', 'äöü', { bytesMax: 5 }), /at most 5 bytes.*got 6/)
    assert.equal(checkString('s', '😀', { bytesMax: 4 }), '😀')
    refused('range', 's', () => checkString('s', '😀', { bytesMax: 3 }), /got 4 bytes, '😀'/)
  })

  test('text that some store cannot hold is refused', () => {
    refused('range', 's', () => checkString('s', 'a\0'), /must not contain a NUL character/)
    for (const half of ['\ud83d', 'a\ude00b']) {
      refused('range', 's', () => checkString('s', half), /must not contain half a surrogate pair/)
    }
  })
})

describe('checkFunction', () => {
  test('anything that can be called', () => {
    for (const value of [() => {}, async () => {}, class {}, Math.max, new Proxy(() => {}, {})]) {
      assert.equal(checkFunction('f', value), value)
    }
    for (const value of [null, undefined, {}, 'f', { call: () => {} }]) {
      refused('type', 'f', () => checkFunction('f', value), /must be a function; got /)
    }
  })
})

describe('checkObject', () => {
  const known = ['leaseMs', 'keyOf', 'clock', 'maxPending']
  const check = (value: unknown) => checkObject('options', value, known)

  test('objects of known members pass with any values', () => {
    for (const value of [{}, { leaseMs: 1, clock: undefined }, Object.create(null), new Map()]) {
      assert.equal(check(value), value)
    }
    assert.ok(checkObject('options', { anything: 1 }))
  })

  test('inherited members and symbols are none of its business', () => {
    class Options {
      leaseMs = 5
      other(): void {}
    }
    assert.ok(check(new Options()))
    assert.ok(check({ [Symbol('x')]: 1 }))
  })

  test('an object of a class is no object of options, such as a queue in place of `{ queue }`', () => {
    class Queue {
      core = {}
    }
    refused(
      'type',
      'options',
      () => check(new Queue()),
      /must be an object of options, of which there are leaseMs, keyOf, clock, maxPending; got a Queue/,
    )
    const options = Object.assign(new Queue(), { core: undefined, leasems: 5 })
    refused('type', 'leasems', () => check(options), /did you mean 'leaseMs'/)
  })

  test('what is no object is the wrong type', () => {
    for (const value of [null, undefined, 5, 'x', [], () => {}, AbortSignal.abort()]) {
      refused('type', 'options', () => check(value), /must be an object; got /)
    }
  })

  test('an unknown member is refused, naming the one that was meant', () => {
    const cases: [string, RegExp][] = [
      ['leasems', /did you mean 'leaseMs'\?/],
      ['LEASE_MS', /did you mean 'leaseMs'\?/],
      ['laeseMs', /did you mean 'leaseMs'\?/],
      ['lease', /did you mean 'leaseMs'\?/],
      ['lea', /did you mean 'leaseMs'\?/],
      ['keyof', /did you mean 'keyOf'\?/],
      ['clok', /did you mean 'clock'\?/],
      ['maxPendings', /did you mean 'maxPending'\?/],
      ['limiter', /there are leaseMs, keyOf, clock, maxPending/],
      ['x', /there are leaseMs/],
      ['', /there are leaseMs/],
      ['__proto__', /there are leaseMs/],
      ['constructor', /there are leaseMs/],
    ]
    for (const [name, message] of cases) {
      const value = Object.fromEntries([[name, null]])
      refused('type', name, () => check(value), message)
    }
    refused('type', 'a', () => checkObject('options', { a: 1 }, []), /there are none/)
  })

  test('a member that is undefined is absent, whatever its name', () => {
    assert.ok(check({ leaseMs: undefined, maxPendings: undefined }))
  })

  test('a member of another object than the options is named after the object', () => {
    refused('type', 'auth.tokn', () => checkObject('auth', { tokn: 1 }, ['token']), /did you mean/)
  })

  test('a hostile name does no harm', () => {
    const value = { ['l\u001b[2J'.padEnd(1_000_000, 'x')]: 1 }
    const error = refused('type', `l\\u001b[2J${'x'.repeat(35)}…`, () => check(value))
    assert.ok(error.message.length < 300)
  })
})

describe('checkSignal', () => {
  test('signals of any class pass', () => {
    const { signal } = new AbortController()
    assert.equal(checkSignal('signal', signal), signal)
    assert.ok(checkSignal('signal', AbortSignal.abort()))
    assert.ok(checkSignal('signal', AbortSignal.any([signal])))
    const own = { aborted: false, addEventListener: () => {}, removeEventListener: () => {} }
    assert.equal(checkSignal('signal', own), own)
  })

  test('others do not', () => {
    const others = [
      null,
      undefined,
      {},
      { aborted: false },
      5,
      'abort',
      () => {},
      new EventTarget(),
      { aborted: false, addEventListener() {} },
      { aborted: false, removeEventListener() {} },
      { aborted: 'no', addEventListener() {}, removeEventListener() {} },
    ]
    for (const value of [...others, new AbortController()]) {
      refused('type', 'signal', () => checkSignal('signal', value), /must be an AbortSignal; got /)
    }
  })
})

describe('checkOneOf', () => {
  const words = ['earliest', 'latest'] as const

  test('one of the words passes', () => {
    const word: 'earliest' | 'latest' = checkOneOf('when', 'latest', words)
    assert.equal(word, 'latest')
  })

  test('another word is out of range, anything else the wrong type', () => {
    const message = /must be 'earliest' or 'latest'; got /
    for (const value of ['', 'Latest', 'toString']) {
      refused('range', 'when', () => checkOneOf('when', value, words), message)
    }
    for (const value of [null, undefined, 0, ['latest'], Object('latest')]) {
      refused('type', 'when', () => checkOneOf('when', value, words), message)
    }
  })
})

test('the closest name is the one with the fewest slips, if they are few for its length', () => {
  const cases: [string, string[], string | undefined][] = [
    ['naem', ['name'], 'name'],
    ['abcd', ['badc', 'abdc'], 'abdc'],
    ['abcd', ['abxy'], undefined],
    ['abc', ['bxc'], undefined],
    ['timoutMs', ['timeoutMs', 'timeoutM'], 'timeoutMs'],
    ['timoutMs', ['timeoutM', 'timeoutMs'], 'timeoutMs'],
    ['leasems', ['leaseMsMax', 'leaseMs'], 'leaseMs'],
    ['le', ['leaseMs'], undefined],
    ['lea', ['leaseMs'], 'leaseMs'],
    ['x'.repeat(64), ['x'.repeat(65)], 'x'.repeat(65)],
    ['x'.repeat(65), ['x'.repeat(66)], undefined],
  ]
  for (const [name, known, expected] of cases) assert.equal(closest(name, known), expected, name)
})
