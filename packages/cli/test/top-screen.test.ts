import { execFileSync, spawnSync } from 'node:child_process'
import { needs } from '@sluice/needs'
import stringWidth from 'string-width'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type TopRow, TopScreen } from '../src/rows/top-screen.ts'
import { output } from './cli.ts'
import { folderWithProgram } from './program.ts'
import { newFile } from './stores.ts'

const rowOf = (queue: string, ready: number, more: Partial<TopRow> = {}): TopRow => ({
  queue,
  severity: 'ok',
  urgency: 'good',
  reason: 'fine',
  paused: false,
  counts: { ready, delayed: 0, backoff: 0, processing: 0, dirty: 0, parked: 0, idle: 0 },
  capped: false,
  rates: { runsPerSecond: 12.3, failedRatio: 0.01, waitP95Ms: 8, workP95Ms: 90, busy: 3, slots: 8 },
  ...more,
})

const long = 'a-queue-with-a-name-that-is-longer-than-any-screen-has-room-for-in-one-column-eu'
const rows = [rowOf(long, 3), rowOf('mails', 10), rowOf('orders', 7)]
const plain = (_: string, text: string): string => text

function linesOf(screen: TopScreen, width: number, height = 24): string[] {
  return screen.lines(rows, 'title', { width, height }, plain)
}

const namesOf = (lines: readonly string[]): string[] =>
  lines.slice(2, -1).map((line) => (line.startsWith('a-queue') ? long : (line.split(' ')[0] ?? '')))

describe('the screen of top', () => {
  test.each([80, 110, 160])('fits %i columns, with what it is for', (width) => {
    const lines = linesOf(new TopScreen(), width)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(width)
    const [, header = '', ...body] = lines
    for (const title of ['STATE', 'READY', 'RUNS/S', 'FAILED', 'BUSY'])
      expect(header).toContain(title)
    expect(header.includes('DELAYED')).toBe(width === 160)
    // The end of a long name is what tells it from others.
    expect(body[0]).toMatch(/^a-queue\S*…\S*-eu +ok +3 /)
    for (const line of body.slice(0, 3)) expect(line).toMatch(/12\.3 +1\.0% .*3\/8$/)
  })

  test.each([1, 12, 20, 41, 80])('fits %i columns with names of any characters', (width) => {
    const names = ['注文処理キュー'.repeat(5), '🎉👩‍👩‍👧'.repeat(20), 'e\u0301'.repeat(60)]
    const wide = names.map((name) => rowOf(name, 3))
    const lines = new TopScreen().lines(wide, names.join(), { width, height: 24 }, plain)
    for (const line of lines) {
      expect(stringWidth(line)).toBeLessThanOrEqual(width)
      expect(line.isWellFormed()).toBe(true)
    }
    if (width > 40) expect(lines.findLast((line) => line.startsWith('注'))).toMatch(/…\S*ー /)
  })

  test('says that a quantile is longer than the durations that are told apart', () => {
    const slow = rowOf('slow', 1, {
      rates: { runsPerSecond: 1, waitP95Ms: 1_050_000, workP95Ms: 90, busy: 3, slots: 8 },
    })
    const lines = new TopScreen().lines([slow], 'title', { width: 160, height: 24 }, plain)
    expect(lines.join()).toContain(' >17m ')
  })

  test('has all of a warning that is longer than a line', () => {
    const warning = 'Postgres failed: connect ECONNREFUSED 127.0.0.1:5432; trying again every 2.0s'
    const size = { width: 40, height: 8 }
    const many = Array.from({ length: 20 }, (_, at) => rowOf(`queue-${at}`, at))
    const lines = new TopScreen().lines(many, warning, size, plain)
    expect(lines.slice(0, 3)).toEqual([
      'Postgres failed: connect ECONNREFUSED',
      '127.0.0.1:5432; trying again every 2.0s',
      expect.stringMatching(/^QUEUE /),
    ])
    expect(lines).toHaveLength(8)
    // Of an endless one, the queues still have room.
    const [, , , fourth, fifth] = new TopScreen().lines(many, 'away '.repeat(99), size, plain)
    expect(fourth).toMatch(/^away .*…$/)
    expect(fifth).toMatch(/^QUEUE /)
  })

  test.each([4, 5, 7])('fits %i lines, with the beginning of a warning', (height) => {
    const size = { width: 20, height }
    const many = Array.from({ length: 20 }, (_, at) => rowOf(`queue-${at}`, at))
    const lines = new TopScreen().lines(many, 'the store is away '.repeat(9), size, plain)
    expect(lines).toHaveLength(height)
    expect(lines[0]).toMatch(/^the store is/)
    expect(lines.slice(-3).join('\n')).toMatch(/^QUEUE.*\nqueue-0.*\n20 queues/)
  })

  test('sorts, and reverses the order', () => {
    const screen = new TopScreen()
    screen.press('s')
    expect(linesOf(screen, 80).at(-1)).toContain('s sorts (READY)')
    expect(namesOf(linesOf(screen, 160))).toEqual(['mails', 'orders', long])
    screen.press('r')
    expect(namesOf(linesOf(screen, 160))).toEqual([long, 'orders', 'mails'])
  })

  test('sorts by the figures of every column, the highest first, and then by name', () => {
    const counts = { ready: 0, delayed: 0, backoff: 0, processing: 0, dirty: 0, parked: 0, idle: 0 }
    const idle = { runsPerSecond: 0, failedRatio: 0, waitP95Ms: 0, workP95Ms: 0, busy: 0, slots: 9 }
    const more: Record<string, Partial<TopRow>> = {
      ready: { counts: { ...counts, ready: 1 } },
      delayed: { counts: { ...counts, delayed: 1 } },
      backoff: { counts: { ...counts, backoff: 1 } },
      dirty: { counts: { ...counts, dirty: 1 } },
      parked: { counts: { ...counts, parked: 1 } },
      oldest: { oldestAgeMs: 1 },
      runs: { rates: { ...idle, runsPerSecond: 1 } },
      failed: { rates: { ...idle, failedRatio: 1 } },
      waits: { rates: { ...idle, waitP95Ms: 1 } },
      works: { rates: { ...idle, workP95Ms: 1 } },
      busy: { rates: { ...idle, busy: 1 } },
    }
    const names = Object.keys(more)
    const each = names.map((name) => {
      const { rates: _, ...row } = rowOf(name, 0, { counts })
      return { ...row, ...more[name] }
    })
    const screen = new TopScreen()
    for (const name of names) {
      screen.press('s')
      const [first] = screen.lines(each, 'title', { width: 200, height: 24 }, plain).slice(2)
      expect(first?.split(' ')[0]).toBe(name)
    }
    // A larger part of the slots, and not more of them.
    const large = rowOf('large', 0, { counts, rates: { ...idle, busy: 2, slots: 90 } })
    each.push(large)
    expect(namesOf(screen.lines(each, 'title', { width: 200, height: 24 }, plain))[0]).toBe('busy')
    each.pop()
    screen.press('s')
    const byName = screen.lines(each, 'title', { width: 200, height: 24 }, plain)
    expect(byName.at(-1)).toContain('s sorts (QUEUE)')
    expect(namesOf(byName)).toEqual(names.toSorted())
  })

  test('shows no name that a terminal obeys', () => {
    const [row] = [rowOf('a\u001b[2Jb', 1)]
    const lines = new TopScreen().lines([row], 'title', { width: 80, height: 24 }, plain)
    expect(lines.join('\n')).not.toContain('\u001b')
    expect(lines[2]).toMatch(/^"a\\u001b\[2Jb" /)
  })

  test('filters by what is typed until Enter, and Escape drops it', () => {
    const screen = new TopScreen()
    for (const key of '/no') screen.press(key)
    expect(namesOf(linesOf(screen, 80))).toEqual([])
    screen.press('\u001b')
    expect(namesOf(linesOf(screen, 160))).toHaveLength(3)
    // Half of the picture would be left of it, which no name has.
    for (const key of '/qm\u{1f4ec}\u007f\u007f\u007fmai') screen.press(key)
    expect(namesOf(linesOf(screen, 80))).toEqual(['mails'])
    screen.press('\r')
    expect(screen.press('q')).toBe(true)
    screen.press('\u001b')
    expect(namesOf(linesOf(screen, 160))).toHaveLength(3)
  })

  test('shows the keys of each state in its own column', () => {
    const counts = { ready: 1, delayed: 2, backoff: 3, processing: 4, dirty: 5, parked: 6, idle: 7 }
    const [, header = '', line = ''] = new TopScreen().lines(
      [rowOf('q', 0, { counts })],
      'title',
      { width: 200, height: 24 },
      plain,
    )
    const under = (title: string) => line.slice(header.indexOf(title)).split(' ')[0]
    expect(['READY', 'DELAYED', 'BACKOFF', 'PROCESSING', 'PARKED'].map(under)).toEqual([
      ...['1', '2', '3', '9', '6'],
    ])
  })

  test('shows the first queues that a filter finds, however far it was scrolled', () => {
    const screen = new TopScreen()
    screen.press('\u001b[6~')
    expect(namesOf(linesOf(screen, 160, 5))).toEqual(['mails', 'orders'])
    for (const key of '/s\u007f') screen.press(key)
    expect(namesOf(linesOf(screen, 160, 5))).toEqual([long, 'mails'])
  })

  test('scrolls by a row and by ten, up and down, by letters and by arrows', () => {
    const screen = new TopScreen()
    const many = Array.from({ length: 40 }, (_, at) => rowOf(`q${at + 10}`, 0))
    const first = (key: string) => {
      screen.press(key)
      return screen.lines(many, 'title', { width: 80, height: 8 }, plain)[2]?.split(' ')[0]
    }
    const keys = ['j', '\u001b[B', '\u001b[6~', 'k', '\u001b[A', '\u001b[5~']
    expect(keys.map(first)).toEqual(['q11', 'q12', 'q22', 'q21', 'q20', 'q10'])
  })

  test('says what the keys do now, and shows a row on the smallest screen', () => {
    const screen = new TopScreen()
    const foot = (keys: string) => {
      for (const key of keys) screen.press(key)
      return linesOf(screen, 160).at(-1)
    }
    expect(foot('')).toContain('s sorts (STATE)   r reverses   / filters   q quits')
    expect(foot('r')).toContain('s sorts (STATE, reversed)')
    expect(foot('/max\b')).toBe('/ma_   Enter keeps the filter, Esc drops it')
    expect(foot('\n')).toMatch(/^1 queue .* \/ma \(Esc drops it\) /)
    expect(namesOf(linesOf(new TopScreen(), 160, 1))).toEqual([long])
  })

  test('shows fast rates without a fraction, ages, and a dash for what is unknown', () => {
    const { rates, ...idle } = rowOf('q', 0)
    const fast = { ...idle, oldestAgeMs: 5_000, rates: { ...rates!, runsPerSecond: 123.4 } }
    const mark = (_: string, text: string) => `<${text}>`
    const size = { width: 200, height: 24 }
    const [, header, line] = new TopScreen().lines([fast], 'title', size, mark)
    expect(header).toMatch(/^<QUEUE .*>$/)
    expect(line).toMatch(/ 5s +123 /)
    expect(new TopScreen().lines([idle], 'title', size, plain)[2]).toMatch(/ 0( +-){6}$/)
  })

  test('scrolls to the last row and not beyond', () => {
    const screen = new TopScreen()
    expect(namesOf(linesOf(screen, 160, 5))).toEqual([long, 'mails'])
    screen.press('\u001b[B')
    screen.press('\u001b[6~')
    expect(namesOf(linesOf(screen, 160, 5))).toEqual(['mails', 'orders'])
    screen.press('k')
    expect(namesOf(linesOf(screen, 160, 5))).toEqual([long, 'mails'])
  })
})

const hasTmux = needs('tmux', spawnSync('tmux', ['-V']).status === 0)

test.skipIf(!hasTmux)(
  'top in a real terminal of 80 columns: sorts, filters, follows its size and quits',
  async () => {
    const store = newFile()
    await output(['add', long, 'a', 'b', 'c'], { store })
    await output(['add', 'orders', 'a'], { store })
    const socket = `sluice-${process.pid}`
    const tmux = (...args: readonly string[]): string =>
      execFileSync('tmux', ['-L', socket, ...args], { encoding: 'utf8' })
    onTestFinished(() => void spawnSync('tmux', ['-L', socket, 'kill-server']))
    const program = `${folderWithProgram()}/sluice`
    tmux('-f', '/dev/null', 'new-session', '-d', '-x', '80', '-y', '24', 'sh')
    tmux('send-keys', `PS1='$ ' exec sh`, 'Enter')
    tmux(
      'send-keys',
      `clear; '${program}' top -s '${store}' --interval 1h; echo ended with $?`,
      'Enter',
    )
    const screen = (): string => tmux('capture-pane', '-p')
    // The header alone is on the screen until the queues are read.
    await expect
      .poll(screen)
      .toMatch(/^QUEUE +STATE +READY .*BUSY\na-queue\S*…\S*-eu +no workers +3 /m)
    tmux('send-keys', 's')
    await expect.poll(screen).toContain('s sorts (READY)')
    tmux('send-keys', '/', 'o', 'r', 'd', 'Enter')
    await expect.poll(screen).toMatch(/^1 queue .*\/ord/m)
    tmux('resize-window', '-x', '160')
    await expect.poll(screen).toMatch(/^QUEUE +STATE .*DELAYED/m)
    tmux('send-keys', 'q')
    await expect.poll(screen).toContain('ended with 0')
    expect(screen()).not.toContain('STATE')
    // As on a serial console, whose size nobody has set.
    tmux(
      'send-keys',
      `clear; stty cols 0 rows 0; '${program}' top -s '${store}'; echo ended with $?`,
      'Enter',
    )
    await expect.poll(screen).toMatch(/^orders +no workers +1 /m)
    // They arrive together, as what is pressed while the program is busy.
    tmux('send-keys', 'Down', 's', 'C-c')
    await expect.poll(screen).toContain('ended with 130')
  },
)
