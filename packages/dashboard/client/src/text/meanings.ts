import type { KeyStateWord, Urgencies } from '../../../src/wire.ts'

/** What each state means, in a sentence. */
export const meanings: Readonly<Record<KeyStateWord | 'absent', string>> = {
  ready: 'A run is pending, and a worker can take it now.',
  delayed: 'A run is pending; it starts after the delay it was added with.',
  backoff: 'Waiting to be retried; the limiter decided when.',
  processing: 'Held by a worker that is running it.',
  dirty: 'Running, and added again meanwhile: it runs once more afterwards.',
  parked: 'Does not run until it is unparked; adds are kept.',
  idle: 'Nothing pending; only its failure count is kept.',
  absent: 'Not stored: nothing is pending.',
}

/** How urgent each severity is: the table of the queue, which the page does not load. */
export const urgencies: Urgencies = {
  'no workers': 'bad',
  'leases lost': 'bad',
  'falling behind': 'warn',
  'waiting long': 'warn',
  failing: 'warn',
  parked: 'warn',
  paused: 'calm',
  ok: 'good',
}
