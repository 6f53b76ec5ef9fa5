import { describe, expect, it } from 'vitest'
import { visible, visiblePieces } from '../client/src/text/visible-text.ts'

describe('a text from outside', () => {
  it('is left alone where everything in it can be seen', () => {
    for (const text of ['shop/web-7', 'ключ 鍵 مفتاح', 'a  b', '<b>&amp;</b>', 'é́']) {
      expect(visible(text)).toBe(text)
    }
  })

  it.each([
    ['a\u202eb', 'a⟨U+202E⟩b'],
    ['\u0000\u001b[31m', '⟨U+0000⟩⟨U+001B⟩[31m'],
    ['a\u200bb', 'a⟨U+200B⟩b'],
    ['\ufeffa', '⟨U+FEFF⟩a'],
    ['a\u2028b', 'a⟨U+2028⟩b'],
    ['a\u00adb', 'a⟨U+00AD⟩b'],
    ['\u{e0041}', '⟨U+E0041⟩'],
    ['\ud800', '⟨U+D800⟩'],
    ['one\ntwo\tthree\r', 'one⟨\\n⟩two⟨\\t⟩three⟨\\r⟩'],
    [' a  ', '⟨␣⟩a⟨␣␣⟩'],
    ['\u3164', '⟨U+3164⟩'],
    ['\u2066a\u2069', '⟨U+2066⟩a⟨U+2069⟩'],
  ])('shows invisible characters: %j', (text, seen) => {
    expect(visible(text)).toBe(seen)
  })

  it('keeps its lines where lines are wanted', () => {
    expect(visiblePieces('a\n\tb\u202e', true)).toEqual([
      { text: 'a\n\tb', hidden: false },
      { text: 'U+202E', hidden: true },
    ])
  })

  it('looks different whenever it is different', () => {
    const alike = ['ab', 'a\u200bb', 'a\u200cb', 'a\u2060b', 'ab ', ' ab', 'a\u00adb', 'ab\u0000']
    expect(new Set(alike.map((text) => visible(text))).size).toBe(alike.length)
  })

  it('is cut where it is too long for a title', () => {
    expect(visible('x'.repeat(1_000), 10)).toBe(`${'x'.repeat(10)}…`)
  })
})
