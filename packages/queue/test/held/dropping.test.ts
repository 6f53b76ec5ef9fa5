import { describe, expect, test } from 'vitest'
import { run } from '../support/program.ts'

describe('Held: one that is collected unfinished', () => {
  test('is reported, and only it, over direct', async () => {
    const { lines } = await run('dropping', 'direct')
    expect(lines).toEqual(['ERR_HELD_DROPPED true', 'kept false'])
  })

  test.each(['batched', 'late'])('is not renewed any more, and reported, over %s', async (way) => {
    const { lines } = await run('dropping', way)
    expect(lines).toEqual(['ERR_HELD_DROPPED true', 'kept false', 'back again,dropped'])
  })

  test.each(['direct', 'batched'])(
    'is no matter if it was finished by item, over %s',
    async (way) => {
      const { lines } = await run('dropping', way, 'by item')
      expect(lines[0]).toBe('kept false')
    },
  )

  test.each(['direct', 'batched', 'late'])(
    'is no matter if it is finished by item at last, as all others, over %s',
    async (way) => {
      const { lines } = await run('dropping', way, 'by item only')
      expect(lines).toEqual(['kept false', 'idle', 'idle', 'idle'])
    },
  )

  test.each(['direct', 'batched'])('is reported by the close only, over %s', async (way) => {
    const { lines } = await run('dropping', way, 'after a close')
    expect(lines).toEqual(['ERR_CLOSING true', 'lost'])
  })
})
