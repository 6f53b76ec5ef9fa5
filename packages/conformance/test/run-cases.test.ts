import { expect, onTestFinished, test, vi } from 'vitest'
import type { Case, CreateSubject } from '../src/case.ts'
import { altered, modelSubject } from '../src/model/model-subject.ts'
import { type CaseResult, type RunOptions, runCases } from '../src/run-cases.ts'

const easy: Case = { id: 'a.b', title: 'nothing to keep', run: async () => {} }

/** What becomes of a promise within a minute of time that passes at once. */
async function withinAMinute(promise: Promise<unknown>): Promise<unknown> {
  let answer: unknown = 'no answer'
  promise.then(
    (value) => {
      answer = value
    },
    (error: unknown) => {
      answer = error
    },
  )
  await vi.advanceTimersByTimeAsync(60_000)
  return answer
}

/** Resolves once `runHanging` has stepped the time by so many milliseconds. */
function stepped(ms: number): Promise<void> {
  // real time: it is under the control of `runHanging`, so that nothing sleeps.
  return new Promise((resolve) => void setTimeout(resolve, ms))
}

/** The results of two cases, while a minute passes at once. */
async function runHanging(
  create: CreateSubject,
  options: RunOptions = {},
  chosen = easy,
): Promise<CaseResult[]> {
  // real time: is put under control here.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const results: CaseResult[] = []
  const cases = [chosen, { ...chosen, id: 'c.d' }]
  const all = async (): Promise<void> => {
    const limited = { timeoutMs: 10_000, ...options, cases }
    for await (const result of runCases(create, limited)) results.push(result)
  }
  expect(await withinAMinute(all())).toBe(undefined)
  return results
}

const hang = (): Promise<void> => new Promise(() => undefined)

test('a driver whose close never ends fails its cases, one after the other', async () => {
  const results = await runHanging(() => modelSubject({ alter: () => ({ close: hang }) }))
  expect(results.map(({ verdict }) => verdict)).toEqual(['failed', 'failed'])
  expect(String(results[0]?.error)).toContain('closing the drivers')
})

test('so does a store whose removal never ends', async () => {
  const results = await runHanging(() => ({ ...modelSubject(), dispose: hang }))
  expect(results.map(({ verdict }) => verdict)).toEqual(['failed', 'failed'])
})

test('so does a store whose removal never ends after a case that was not asked', async () => {
  const unasked: Case = { ...easy, needs: { cutPower: true } }
  const create: CreateSubject = () => {
    const { driver, clock } = modelSubject()
    return { driver, clock, dispose: hang }
  }
  const results = await runHanging(create, {}, unasked)
  expect(results.map(({ verdict }) => verdict)).toEqual(['failed', 'failed'])
  expect(String(results[0]?.error)).toContain('removing the stores')
})

test('a subject that is never created fails its cases, one after the other', async () => {
  const results = await runHanging(() => new Promise(() => undefined))
  expect(results.map(({ verdict }) => verdict)).toEqual(['failed', 'failed'])
  expect(String(results[0]?.error)).toContain('creating the subject')
})

test('cases that may take longer may take longer to create and remove their stores', async () => {
  // Two cases fit into the minute of `runHanging`.
  const slowly = (): Promise<void> => stepped(16_000)
  const slowToRemove: CreateSubject = () => ({ ...modelSubject(), dispose: slowly })
  const slowToCreate: CreateSubject = async () => {
    await slowly()
    return modelSubject()
  }
  for (const create of [slowToRemove, slowToCreate]) {
    const results = await runHanging(create, { timeoutMs: 60_000 })
    expect(results.map(({ verdict }) => verdict)).toEqual(['passed', 'passed'])
  }
})

test('a timeout for all cases does not shorten that of a case that takes longer', async () => {
  const searching: Case = { ...easy, timeoutMs: 60_000, run: async () => await stepped(16_000) }
  const results = await runHanging(() => modelSubject(), { timeoutMs: 10_000 }, searching)
  expect(results.map(({ verdict }) => verdict)).toEqual(['passed', 'passed'])
})

test('a search may take as long for each of its histories, and no longer', async () => {
  const search = (...histories: readonly (() => Promise<void>)[]): Promise<CaseResult[]> =>
    runHanging(
      () => modelSubject(),
      { timeoutMs: 13_000 },
      {
        ...easy,
        async run(s) {
          for (const history of histories) {
            s.beginHistory()
            await history()
          }
        },
      },
    )
  const slow = await search(late, late)
  expect(slow.map(({ verdict }) => verdict)).toEqual(['passed', 'passed'])
  const [hanging] = await search(late, hang)
  expect(String(hanging?.error)).toContain('a history of the case did not end within 13000 ms')
})

test('a driver that cannot be closed does not keep the store from being removed', async () => {
  const removed: string[] = []
  const failing = (): never => {
    throw new Error('it cannot be closed')
  }
  const create: CreateSubject = () => ({
    ...modelSubject({ alter: () => ({ close: failing }) }),
    dispose: () => void removed.push('the store'),
  })
  const results = await runHanging(create)
  expect(results.map(({ error }) => String(error))).toEqual([
    'Error: it cannot be closed',
    'Error: it cannot be closed',
  ])
  expect(removed).toEqual(['the store', 'the store'])
})

test('a driver that closes at once passes', async () => {
  const results = await runHanging(() => modelSubject())
  expect(results.map(({ verdict }) => verdict)).toEqual(['passed', 'passed'])
})

/** Subjects that note when they are opened, closed and disposed of. */
function noted(): { readonly seen: string[]; readonly create: CreateSubject } {
  const seen: string[] = []
  let made = 0
  const create: CreateSubject = () => {
    made += 1
    const name = `${made}`
    const subject = modelSubject({
      alter: (driver) => ({
        open(options) {
          seen.push(`open ${name}`)
          driver.open(options)
        },
        close() {
          seen.push(`close ${name}`)
          driver.close()
        },
      }),
    })
    return { ...subject, dispose: () => void seen.push(`dispose ${name}`) }
  }
  return { seen, create }
}

/** Resolves when a case of the test has passed its limit. */
const late = (): Promise<void> => stepped(12_000)

test('a subject that is created after its limit is disposed of', async () => {
  const { seen, create } = noted()
  const slow: CreateSubject = async () => {
    await stepped(16_000)
    return await create()
  }
  await runHanging(slow)
  expect(seen).toEqual(['dispose 1', 'dispose 2'])
})

test('another store that a case creates after its limit is removed', async () => {
  const { seen, create } = noted()
  const other: Case = {
    ...easy,
    async run(s) {
      await late()
      await s.otherStore()
    },
  }
  await runHanging(create, {}, other)
  expect(seen.filter((each) => each.startsWith('open')).length).toBe(2)
  expect(seen.filter((each) => each.startsWith('dispose')).length).toBe(4)
})

test('a driver that a case opens after its limit stays closed', async () => {
  const { seen, create } = noted()
  const again: Case = {
    ...easy,
    async run(s) {
      await s.close()
      await late()
      await s.open()
    },
  }
  await runHanging(create, {}, again)
  expect(seen).toEqual([1, 2].flatMap((n) => [`open ${n}`, `close ${n}`, `dispose ${n}`]))
})

test('a driver that opens after the limit of its case is closed', async () => {
  const seen: string[] = []
  const create: CreateSubject = () => ({
    ...modelSubject({
      alter: (driver) => ({
        async open(options) {
          await late()
          driver.open(options)
          seen.push('open')
        },
        close() {
          driver.close()
          seen.push('close')
        },
      }),
    }),
  })
  await runHanging(create)
  expect(seen).toEqual(['open', 'close', 'open', 'close'])
})

test('another store whose driver cannot be opened is removed', async () => {
  const { seen, create } = noted()
  let made = 0
  const cannotOpen: CreateSubject = async () => {
    const subject = await create()
    made += 1
    if (made % 2 === 1) return subject
    const open = (): never => {
      throw new Error('it cannot be opened')
    }
    return { ...subject, driver: altered(subject.driver, { open }) }
  }
  const other: Case = { ...easy, run: async (s) => void (await s.otherStore()) }
  const results = await runHanging(cannotOpen, {}, other)
  expect(String(results[0]?.error)).toContain('it cannot be opened')
  expect(seen.filter((each) => each.startsWith('dispose'))).toHaveLength(4)
})
