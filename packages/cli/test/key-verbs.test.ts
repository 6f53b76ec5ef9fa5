import { createDelayingQueue } from 'sluice'
import { describe, expect, test } from 'vitest'
import { cli, json, output } from './cli.ts'
import { driverOf, failKey } from './queues.ts'
import { newFile, storeKinds } from './stores.ts'

describe.each(storeKinds())('on $kind', ({ fresh }) => {
  async function stateOf(store: string, key: string): Promise<unknown> {
    return (await json(['get', 'orders', key], { store }))['state']
  }

  test('keys are parked, unparked and removed by name', async () => {
    const store = await fresh()
    await output(['add', 'orders', 'a', 'b'], { store })
    expect(await output(['park', 'orders', 'a', 'b'], { store })).toBe('a parked\nb parked\n')
    expect(await stateOf(store, 'a')).toBe('parked')
    expect(await output(['park', 'orders', 'a'], { store })).toBe('a unchanged\n')
    expect(await output(['unpark', 'orders', 'a'], { store })).toBe('a unparked\n')
    expect(await stateOf(store, 'a')).toBe('ready')
    expect(await output(['remove', 'orders', 'a', '-o', 'name'], { store })).toBe('a\n')
    expect((await cli(['get', 'orders', 'a'], { store })).code).toBe(4)
  })

  test('a missing key is reported on stderr, and the other keys are still changed', async () => {
    const store = await fresh()
    await output(['add', 'orders', 'a'], { store })
    expect(await cli(['park', 'orders', 'nobody', 'a'], { store })).toEqual({
      code: 4,
      out: 'a parked\n',
      err: 'nobody does not exist\n',
    })
    expect(JSON.parse((await cli(['park', 'orders', 'x', '-o', 'json'], { store })).out)).toEqual({
      queue: 'orders',
      verb: 'park',
      results: [{ key: 'x', outcome: 'missing' }],
    })
  })

  test('every verb exits with 4 for a missing key', async () => {
    const store = await fresh()
    await output(['add', 'orders', 'a'], { store })
    for (const verb of ['park', 'unpark', 'run-now', 'forget', 'release', 'remove']) {
      const ended = await cli([verb, 'orders', 'nobody'], { store })
      expect({ verb, ...ended }).toEqual({
        verb,
        code: 4,
        out: '',
        err: 'nobody does not exist\n',
      })
    }
    expect(await output(['forget', 'orders', 'a'], { store })).toBe('a unchanged\n')
  })

  test('a key with the mark of JSON and no JSON after it is a usage error', async () => {
    const store = await fresh()
    await output(['migrate'], { store })
    const says =
      "KEY must go on with JSON after 'json:', or come with an item; got 'json:x'; --item gives the item"
    const line = `line 1 cannot be added: ${says}; the lines before it and some after it were added`
    for (const [argv, message] of [
      [['add', 'orders', 'json:x'], says],
      [['add-after', 'orders', '1h', 'json:x'], says],
      [['add', 'orders', '--stdin'], line],
    ] as const) {
      const err = `sluice: ${message} [ERR_USAGE]\n`
      expect(await cli(argv, { store, stdin: ['json:x'] })).toEqual({ code: 2, out: '', err })
    }
    expect(await output(['add', 'orders', 'json:x', '--item', '"x"'], { store })).toBe(
      'json:x added\n',
    )
  })

  test('a delay is ended, and one is given with units', async () => {
    const store = await fresh()
    expect(await output(['add-after', 'orders', '1h30m', 'a'], { store })).toBe('a added\n')
    expect(await output(['ls', 'orders', '--no-headers'], { store })).toMatch(
      /^a +delayed +0 +in 89m/,
    )
    expect(await output(['run-now', 'orders', 'a'], { store })).toBe('a due now\n')
    expect(await stateOf(store, 'a')).toBe('ready')
    expect(await json(['add-after', 'orders', '1500', 'b'], { store })).toEqual({
      queue: 'orders',
      afterMs: 1_500,
      results: [{ key: 'b', outcome: 'added' }],
    })
    await output(['add-after', 'orders', '1h', 'c', '--priority', '7'], { store })
    expect(await json(['get', 'orders', 'c'], { store })).toMatchObject({ priority: 7 })
  })

  test('a held key is explained with its item, its holder and the runs that follow', async () => {
    const store = await fresh()
    const driver = await driverOf(store)
    await using queue = createDelayingQueue<{ id: number }>({ name: 'orders', driver })
    await queue.add({ id: 1 })
    const held = await queue.get()
    await queue.addAfter({ id: 1 }, 3_600_000)
    await queue.add({ id: 1 })
    const key = held?.key ?? ''
    const explained = await output(['explain', 'orders', key], { store })
    expect(explained).toContain(`${key} of orders is dirty\n  item        {"id":1}\n`)
    expect(explained).toMatch(/^ {2}due .* \(\d+s ago\)\n {2}and again .* \(in 59m\)$/m)
    expect(explained).toMatch(new RegExp(`^ {2}held by {5}\\S+, token ${held?.token}$`, 'm'))
    await held?.done()
    expect(await cli(['explain', 'orders', 'nothing'], { store })).toMatchObject({
      code: 4,
      out: expect.stringMatching(/^nothing of orders is absent\n/),
    })
  })

  test('failures are shown, explained, chosen by, and forgotten', async () => {
    const store = await fresh()
    await output(['add', 'orders', 'good', 'bad'], { store })
    await failKey(store, 'orders', 'bad', Object.assign(new Error('no\nway'), { code: 'EWAY' }))
    const wide = await output(['ls', 'orders', '-o', 'wide', '--state', 'backoff'], { store })
    expect(wide).toMatch(/^bad +backoff +1 +in .* EWAY: no\\nway$/m)
    expect(wide).not.toContain('good')
    const explained = await output(['explain', 'orders', 'bad'], { store })
    expect(explained).toContain(
      'bad of orders is backoff\n' +
        '  priority    0\n  failures    1, crashes 0\n  last error  EWAY: no\\nway\n',
    )
    expect(explained).toMatch(/^\[x\] Queue not paused$/m)
    expect(explained).toMatch(
      /^\[ \] Back-off elapsed +BACKOFF_\w+: back-off for .*; until \d{4}-.*Z \(in \d+/m,
    )
    expect(explained).toMatch(
      /^blocked by BACKOFF_\w+\nnext: ready at .*Z \(in 59m\)\nafter 1 failure: 3600 s, by a limiter/m,
    )
    expect(await json(['explain', 'orders', 'bad'], { store })).toMatchObject({
      queue: 'orders',
      key: 'bad',
      state: 'backoff',
      blockedBy: expect.stringMatching(/^BACKOFF_/),
      conditions: expect.arrayContaining([
        { code: 'PARKED', ok: true, evidence: 'it is not parked' },
      ]),
      next: { at: expect.any(Number), to: 'ready' },
      inspectedAt: expect.any(Number),
    })
    const chosen = ['--all', '--failures-min', '1', '--error-code', 'EWAY']
    expect(await cli(['forget', 'orders', ...chosen, '--yes'], { store })).toEqual({
      code: 0,
      out: '1 key forgotten\n',
      err: 'This will reset the failures of 1 key of orders.\n',
    })
    expect(await output(['forget', 'orders', 'bad'], { store })).toBe('bad unchanged\n')
  })

  test('an error without a code is found by its name, by ls as by the verbs', async () => {
    const store = await fresh()
    await output(['add', 'orders', 'coded', 'named', 'good'], { store })
    await failKey(store, 'orders', 'coded', Object.assign(new TypeError('no'), { code: 'EWAY' }))
    await failKey(store, 'orders', 'named', new TypeError('no'))
    for (const [code, found] of [
      ['EWAY', 'coded\n'],
      ['TypeError', 'named\n'],
    ] as const) {
      const argv = ['orders', '--all', '--error-code', code, '-o', 'name']
      expect(await output(['ls', ...argv], { store })).toBe(found)
    }
    expect(await output(['ls', 'orders', '--failures-min', '1', '-o', 'name'], { store })).toBe(
      'coded\nnamed\n',
    )
    const argv = ['orders', '--all', '--error-code', 'TypeError', '--yes']
    expect(await output(['park', ...argv], { store })).toBe('1 key parked\n')
    expect(await output(['forget', 'orders', 'good', 'named'], { store })).toBe(
      'good unchanged\nnamed forgotten\n',
    )
  })

  test('all keys at once need --yes, and say how many there are', async () => {
    const store = await fresh()
    await output(['add', 'orders', 'a/1', 'a/2', 'b/1'], { store })
    expect(await cli(['park', 'orders', '--all', '--prefix', 'a/'], { store })).toEqual({
      code: 2,
      out: '',
      err: 'sluice: This will park 2 keys of orders. Re-run with --yes to confirm. [ERR_NOT_CONFIRMED]\n',
    })
    expect(await stateOf(store, 'a/1')).toBe('ready')
    // There is nothing to confirm.
    expect(await output(['park', 'orders', '--all', '--prefix', 'c/'], { store })).toBe(
      '0 keys parked\n',
    )
    expect(await json(['park', 'orders', '--all', '--prefix', 'a/', '--yes'], { store })).toEqual({
      queue: 'orders',
      verb: 'park',
      count: 2,
      capped: false,
      confirmed: true,
      changed: 2,
      unchanged: 0,
    })
    expect(await output(['remove', 'orders', '--all', '--limit', '1', '-y'], { store })).toBe(
      '1 key removed\n',
    )
  })

  test('each verb does to all keys what it does to named ones', async () => {
    const store = await fresh()
    await output(['add', 'orders', 'ready', 'parked'], { store })
    await output(['add-after', 'orders', '1h', 'later', 'at once'], { store })
    await failKey(store, 'orders', 'parked', new Error('no'))
    await output(['park', 'orders', 'parked'], { store })
    const all = (verb: string, ...options: readonly string[]): Promise<string> =>
      output([verb, 'orders', '--all', ...options, '--yes'], { store })
    const counts = async (): Promise<unknown> =>
      (await json(['counts', 'orders'], { store }))['counts']
    const failuresOf = async (key: string): Promise<unknown> =>
      (await json(['get', 'orders', key], { store }))['failures']

    expect(await all('run-now', '--state', 'delayed', '--prefix', 'at')).toBe('1 key due now\n')
    expect(await counts()).toMatchObject({ ready: 2, delayed: 1, parked: 1 })
    expect(await all('unpark', '--state', 'parked')).toBe('1 key unparked\n')
    expect(await failuresOf('parked')).toBe(1)
    await output(['park', 'orders', 'parked'], { store })
    expect(await all('unpark', '--state', 'parked', '--forget')).toBe('1 key unparked\n')
    expect(await failuresOf('parked')).toBe(0)
    expect(await all('park', '--state', 'ready')).toBe('2 keys parked\n')
    expect(await counts()).toMatchObject({ ready: 0, parked: 2 })
  })

  test('on a terminal it asks, and every answer but yes is no', async () => {
    const store = await fresh()
    await output(['add', 'orders', 'a'], { store })
    for (const answer of ['', 'n', 'no', 'nay', 'why', 'yes please']) {
      const { code } = await cli(['remove', 'orders', '--all'], {
        ...{ store, isTTY: true, stdin: [answer] },
      })
      expect([answer, code]).toEqual([answer, 2])
    }
    const no = await cli(['remove', 'orders', '--all'], { store, isTTY: true, stdin: [] })
    expect(no.code).toBe(2)
    expect(no.err).toContain('This will remove 1 key of orders. Continue? [y/N] ')
    expect(no.err).toContain('nothing was changed')
    const world = { store, isTTY: true, stdin: [' Yes '] }
    for (const redirected of ['stdin', 'stderr'] as const) {
      const unseen = await cli(['remove', 'orders', '--all'], { ...world, redirected })
      expect(unseen.err).toMatch(/Re-run with --yes to confirm\. \[ERR_NOT_CONFIRMED\]/)
    }
    const yes = await cli(['remove', 'orders', '--all'], world)
    expect(yes.out).toBe('1 key removed\n')
  })

  test('queues are paused and resumed', async () => {
    const store = await fresh()
    expect(await output(['pause', 'orders', 'mails', '--force'], { store })).toBe(
      'orders paused\nmails paused\n',
    )
    expect(await output(['pause', 'orders'], { store })).toBe('orders was paused already\n')
    expect(await output(['queues', '--no-headers'], { store })).toMatch(/^mails +paused/)
    expect(await json(['resume', 'orders'], { store })).toEqual({
      verb: 'resume',
      results: [{ queue: 'orders', outcome: 'changed' }],
    })
  })

  test('a queue is purged only after a confirmation', async () => {
    const store = await fresh()
    await output(['add', 'orders', 'a', 'b'], { store })
    const { code, err } = await cli(['purge', 'orders'], { store })
    expect({ code, err }).toEqual({
      code: 2,
      err: 'sluice: This will remove 2 keys of orders. Re-run with --yes to confirm. [ERR_NOT_CONFIRMED]\n',
    })
    const wrong = await cli(['purge', 'orders'], { store, isTTY: true, stdin: ['order'] })
    expect(wrong.err).toContain('the name does not match; nothing was removed')
    const typed = await cli(['purge', 'orders'], { store, isTTY: true, stdin: ['orders'] })
    expect(typed.out).toBe('2 keys of orders removed\n')
    // There is nothing to confirm in an empty queue.
    const empty = { queue: 'orders', removed: 0 }
    expect(await json(['purge', 'orders', '--force'], { store })).toEqual(empty)
    expect(await json(['purge', 'orders', '--yes', '--force'], { store })).toEqual(empty)
  })
})

test('counts end at 10,000 keys of a state, unless they are to be exact', async () => {
  const store = newFile()
  const stdin = Array.from({ length: 10_001 }, (_, at) => `order/${at}`)
  await output(['add', 'orders', '--stdin'], { store, stdin })
  const readyOf = async (...options: readonly string[]) =>
    (await output(['counts', 'orders', ...options], { store })).match(/^ready +(\S+)$/m)?.[1]
  expect(await readyOf()).toBe('10000+')
  expect(await readyOf('--exact')).toBe('10001')
})

test('keys that are read from stdin have the priority of the command line', async () => {
  const store = newFile()
  await output(['add', 'orders', '--stdin', '--priority', '7'], { store, stdin: ['a'] })
  expect(await json(['get', 'orders', 'a'], { store })).toMatchObject({ priority: 7 })
})
