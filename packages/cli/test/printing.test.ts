import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CommandError } from '../src/command-error.ts'
import { formatAge, formatSpan, parseDuration } from '../src/duration.ts'
import { oneLine, safeJson, shown } from '../src/output/escape.ts'
import { formatInstant } from '../src/output/instant.ts'
import { cutTo, Table } from '../src/output/table.ts'
import { toYaml } from '../src/output/yaml.ts'
import { Secrets, withoutPasswords } from '../src/stores/secrets.ts'
import { parseStoreAddress } from '../src/stores/store-address.ts'
import { cli, json, output, scratchFolder } from './cli.ts'
import { newFile } from './stores.ts'

/** Characters that terminals obey or that are invisible. */
const hostile = [
  '\u001b[2J\u001b[31mred',
  '\u009b31m',
  'a\nb',
  'a\rb',
  'tab\there',
  '\u0007bell',
  'abc\u202egpj.exe',
  '\u2066isolate\u2069',
  'zero\u200bwidth',
  '\ufeffmark',
  'line\u2028separator',
  'soft\u00adhyphen',
  'tag\u{e0041}s',
  ' leading',
  'trailing ',
  '"quoted"',
]

const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

describe('texts', () => {
  test.each(hostile)('%j is shown as JSON that gives it back, with nothing to obey', (text) => {
    expect(shown(text)).toMatch(/^".*"$/)
    expect(shown(text)).not.toMatch(unseen)
    expect(JSON.parse(shown(text))).toBe(text)
    expect(oneLine(text)).not.toMatch(unseen)
  })

  test.each(['order/42', '日本語', 'κλειδί', 'a"b', "it's", 'a b', '🎉', 'C:\\x'])(
    '%j is shown as it is',
    (text) => expect(shown(text)).toBe(text),
  )

  test('an indented document keeps its lines, and nothing else that is unseen', () => {
    const text = safeJson({ [hostile.join('')]: hostile }, 2)
    expect(JSON.parse(text)).toEqual({ [hostile.join('')]: hostile })
    expect(text.replaceAll('\n', '')).not.toMatch(unseen)
  })
})

test('columns are as wide as their content on a terminal', () => {
  const table = new Table<readonly string[]>(
    [
      { title: 'KEY', text: ([key = '']) => key },
      { title: 'MORE', wide: true, text: () => 'more' },
      { title: 'STATE', text: ([, state = '']) => state },
    ],
    { wide: false, headers: true },
  )
  expect(
    table.lines([
      ['日本', 'ready'],
      ['a', ''],
      ['🎉🎉', 'x'],
    ]),
  ).toEqual(['KEY    STATE', '日本   ready', 'a      <none>', '🎉🎉   x'])
  expect(table.lines([['b', 'late']])).toEqual(['b      late'])
  expect(cutTo('日本語です', 5)).toBe('日本…')
  expect(cutTo('short', 5)).toBe('short')
})

test('a text is cut in a time that does not depend on its length', () => {
  const onceMs = (text: string): number => {
    const before = process.cpuUsage()
    for (let times = 0; times < 300; times += 1) cutTo(text, 60)
    return process.cpuUsage(before).user / 1_000
  }
  // The least of some: the collector of garbage, which has to look through all of the process, counts as well.
  const msOf = (text: string): number => Math.min(...Array.from({ length: 5 }, () => onceMs(text)))
  const short = msOf('x'.repeat(200))
  expect(msOf('x'.repeat(65_000))).toBeLessThan(20 * short + 50)
})

test('YAML reads back what JSON says', () => {
  const value = {
    plain: 'order/42',
    odd: '- no: "yes"\n',
    yes: 'yes',
    number: '42',
    list: [1, { a: [], b: {} }, [true, null]],
    'key with spaces': hostile[0],
    // A letter of a flag. Parsers of YAML refuse the two halves that JSON takes for a character.
    tag: '\u{e0067}',
  }
  expect(toYaml(value)).toBe(
    [
      'plain: order/42',
      'odd: "- no: \\"yes\\"\\n"',
      '"yes": "yes"',
      'number: "42"',
      'list:',
      '  - 1',
      '  - a: []',
      '    b: {}',
      '  - - true',
      '    - null',
      '"key with spaces": "\\u001b[2J\\u001b[31mred"',
      'tag: "\\U000e0067"',
      '',
    ].join('\n'),
  )
})

describe('durations', () => {
  test.each([
    ['5s', 5_000],
    ['1m30s', 90_000],
    ['2h', 7_200_000],
    ['250ms', 250],
    ['1.5s', 1_500],
    ['1d12h', 129_600_000],
    ['1w', 604_800_000],
  ])('%s is %d ms', (text, ms) => expect(parseDuration('--x', text)).toBe(ms))

  test.each(['', '5', 's', '5 s', '-5s', '5x', '1e3s', '5s!'])('%j is none', (text) => {
    expect(() => parseDuration('--x', text)).toThrow(CommandError)
  })

  test('bare numbers are milliseconds only where that is said', () => {
    expect(parseDuration('DELAY', '1500', 'ms')).toBe(1_500)
  })

  test.each([
    [0, '0s'],
    [-5, '0s'],
    [999, '0s'],
    [119_999, '119s'],
    [120_000, '2m'],
    [125_000, '2m5s'],
    [600_000, '10m'],
    [10_799_000, '179m'],
    [10_800_000, '3h'],
    [12_000_000, '3h20m'],
    [28_800_000, '8h'],
    [172_799_000, '47h'],
    [180_000_000, '2d2h'],
    [864_000_000, '10d'],
    [63_072_000_000, '2y'],
    [400 * 86_400_000, '400d'],
    [3_000 * 86_400_000, '8y'],
  ])('%d ms is the age %s', (ms, text) => expect(formatAge(ms)).toBe(text))

  test.each([
    [0.25, '<1ms'],
    [12.4, '12ms'],
    [1_500, '1.5s'],
    [90_000, '90s'],
  ])('%d ms is the span %s', (ms, text) => expect(formatSpan(ms)).toBe(text))

  test('an instant is shown in UTC, and one beyond all dates as a number', () => {
    expect(formatInstant(1_735_689_600_123)).toBe('2025-01-01 00:00:00Z')
    expect(formatInstant(1e17)).toBe('100000000000000000')
  })
})

describe('secrets', () => {
  test.each([
    ['postgres://me:pw@h/db', 'postgres://me:***@h/db'],
    ['at postgres://me:p@w@h/db, and', 'at postgres://me:***@h/db, and'],
    ['postgres://me:p/w@h/db', 'postgres://me:***@h/db'],
    ['postgres://:pw@h/db', 'postgres://:***@h/db'],
    ['host=h password=pw user=me', 'host=h password=*** user=me'],
    ["password = 'p w' x", 'password = *** x'],
    ['host=h password=p"w user=me', 'host=h password=*** user=me'],
    ["host=h password=p'w user=me", 'host=h password=*** user=me'],
    ['host=h password=p,w;x)y user=me', 'host=h password=*** user=me'],
    ["password='p\\'w' user=me", 'password=*** user=me'],
    ['?user=me&password=pw&x=1', '?user=me&password=***&x=1'],
    ['sslpassword=pw', 'sslpassword=***'],
    ['postgres://me@h:5432/db', 'postgres://me@h:5432/db'],
    ['the key order/42', 'the key order/42'],
  ])('%s becomes %s', (text, redacted) => expect(withoutPasswords(text)).toBe(redacted))

  test('a password is hidden wherever it turns up, encoded or not', () => {
    const secrets = new Secrets()
    secrets.addFrom('postgres://me:p%40ss%20word@h/db')
    expect(secrets.redact('tried "p@ss word" and p%40ss%20word')).toBe('tried "***" and ***')
  })

  test('nothing is left of a password that begins as another one does', () => {
    const secrets = new Secrets()
    for (const secret of ['guess', 'guess it']) secrets.add(secret)
    expect(secrets.redact('tried guess it and guess')).toBe('tried *** and ***')
  })

  test.each([
    [`host=h password='p w' user=me`, 'p w'],
    [`host=h password="p w" user=me`, 'p w'],
  ])('the password of %s is hidden without its quotes, too', (address, password) => {
    const secrets = new Secrets()
    secrets.addFrom(address)
    expect(secrets.redact(`tried ${password}.`)).toBe('tried ***.')
  })

  test('a password that is a word of the address does not blot out every such word', () => {
    const secrets = new Secrets()
    secrets.addFrom('postgres://postgres:postgres@h/postgres')
    expect(secrets.redact('postgres://postgres:postgres@h says: no database postgres')).toBe(
      'postgres://postgres:***@h says: no database postgres',
    )
  })
})

test.each([
  ['postgres://me:p w@h/db', 'postgres://me:***@h/db'],
  ['postgres://me:p/@:w@h/db?password=x', 'postgres://me:***@h/db'],
  [
    'postgresql://me@h:5432/db?schema=jobs&sslmode=require',
    'postgresql://me@h:5432/db?schema=jobs',
  ],
  ['sqlite:///srv/queue.db', 'sqlite:/srv/queue.db'],
])('the store at %s is called %s', (text, label) => {
  expect(parseStoreAddress(text, '/').label).toBe(label)
})

describe('a store with keys that mean harm', () => {
  test('is listed line by line, aligned and escaped', async () => {
    const store = newFile()
    const keys = [...hostile, '日本語', 'plain']
    for (const key of keys) await output(['add', hostile[0] ?? '', key], { store })
    const queue = hostile[0] ?? ''
    const world = { store, isTTY: true, env: { NO_COLOR: '1' } }
    const commands = [
      ['queues'],
      ['ls', queue, '-o', 'wide'],
      ['ls', queue, '-o', 'name'],
      ['ls', queue, '-o', 'json'],
      ['ls', queue, '-o', 'yaml'],
      ['explain', queue, 'a\nb'],
      ['get', queue, '\u001b[2J\u001b[31mred'],
      ['park', queue, ...keys],
      ['unpark', queue, '--all', '--yes'],
      ['get', queue, '\u001b]0;title\u0007'],
      ['drain', queue, '--timeout', '1ms'],
      ['\u001b[31mcommand'],
      ['ls', queue, '--state', '\u001b[31mstate'],
    ]
    for (const argv of commands) {
      const { out, err } = await cli(argv, world)
      // Only what the program itself writes: line feeds, and the progress of `drain`.
      const text = (out + err).replaceAll('\r', '').replaceAll('\u001b[K', '').replaceAll('\n', '')
      expect(text, argv.join(' ')).not.toMatch(unseen)
    }
    const lines = (await output(['ls', queue], world)).trimEnd().split('\n')
    expect(lines).toHaveLength(keys.length + 1)
    const { keys: listed } = await json<{ keys: { key: string }[] }>(['ls', queue], { store })
    expect(new Set(listed.map(({ key }) => key))).toEqual(new Set(keys))
    const names = await cli(['ls', queue, '-o', 'name'], { store })
    expect(names.err).toBe('names with special characters are shown as JSON strings\n')
  })
})

describe('colours', () => {
  const coloured = async (world: object, ...argv: string[]): Promise<boolean> => {
    const store = newFile()
    await output(['add', 'orders', 'a'], { store })
    await output(['park', 'orders', 'a'], { store })
    const { out } = await cli(['ls', 'orders', ...argv], { store, ...world })
    return out.includes('\u001b[31mparked')
  }

  test('are shown on a terminal, and nowhere else', async () => {
    expect(await coloured({ isTTY: true })).toBe(true)
    expect(await coloured({ isTTY: false })).toBe(false)
  })

  test('are turned off on request', async () => {
    expect(await coloured({ isTTY: true, env: { NO_COLOR: '1' } })).toBe(false)
    expect(await coloured({ isTTY: true, env: { NO_COLOR: '' } })).toBe(true)
    expect(await coloured({ isTTY: true, env: { TERM: 'dumb' } })).toBe(false)
    expect(await coloured({ isTTY: true }, '--no-color')).toBe(false)
    expect(await coloured({ isTTY: true }, '-o', 'json')).toBe(false)
  })
})

test('on a terminal, what takes long shows its progress, and clears it before the result', async () => {
  const store = newFile()
  const stdin = Array.from({ length: 2_100 }, (_, at) => `key/${at}`)
  await output(['add', 'orders', '--stdin'], { store, stdin })
  const file = join(scratchFolder(), 'orders.ndjson')
  for (const [progress, ...argv] of [
    ['1999 lines', 'export', 'orders', '--file', file],
    ['2000 lines', 'import', 'orders', file, '-s', newFile()],
    ['orders: 2000 lines copied', 'copy', store, newFile()],
  ] as const) {
    let seen = ''
    const onOut = (text: string): void => {
      seen += text
    }
    await output(argv, { ...(argv[0] === 'export' && { store }), isTTY: true, onOut, onErr: onOut })
    expect(seen).toContain(`\r${progress}\u001b[K`)
    expect(seen).toMatch(/K\r\S*\[K(orders: )?2,?100 [^\r]*\n$/)
  }
})

test('a dumb terminal gets nothing that it does not know', async () => {
  const store = newFile()
  const world = { store, isTTY: true, env: { TERM: 'dumb' } }
  for (const argv of [
    ['add', 'orders', 'a'],
    ['top', '--timeout', '1s'],
    ['export', 'orders', '--file', `${newFile().slice('sqlite:'.length)}.ndjson`],
    ['move', store, newFile()],
  ]) {
    const { out, err } = await cli(argv, world)
    expect((out + err).replaceAll('\n', ''), argv[0]).not.toMatch(unseen)
  }
})
