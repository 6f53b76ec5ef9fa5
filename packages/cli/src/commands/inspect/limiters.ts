import { msForTokens } from '@sluice/core'
import { durationWords } from '@sluice/core/words'
import type { CommandSpec } from '../../command.ts'
import { shown } from '../../output/escape.ts'
import { bucketsNow } from '../../rows/buckets-now.ts'

export const limiters: CommandSpec = {
  name: 'limiters',
  summary: 'Show the token buckets that limiters share',
  details:
    'TOKENS below zero are reserved by keys that wait for them; FULL IN is when the bucket is full again. `sluice describe` shows the limiter of a queue.',
  group: 'Inspect',
  examples: [{ line: 'sluice limiters', does: 'every bucket of the store' }],
  json: '{ buckets: [{ name, perSecond, burst, tokens, at }] }, with the tokens at the instant of reading',
  async run(context) {
    const { print } = context
    const { inspection } = await context.store('existing')
    const rows = await bucketsNow(inspection)
    await print.listing({
      rows,
      columns: () => [
        { title: 'BUCKET', text: ({ name }) => shown(name) },
        { title: 'RATE', text: ({ perSecond }) => `${perSecond}/s` },
        { title: 'BURST', text: ({ burst }) => String(burst) },
        { title: 'TOKENS', text: ({ tokens }) => tokens.toFixed(1) },
        {
          title: 'FULL IN',
          text({ tokens, burst, perSecond }) {
            if (tokens >= burst) return 'now'
            const ms = msForTokens(burst - tokens, perSecond)
            return ms === Infinity ? 'never' : durationWords(ms)
          },
        },
      ],
      name: ({ name }) => name,
      document: () => ({ buckets: rows }),
      none: 'no buckets in this store',
    })
  },
}
