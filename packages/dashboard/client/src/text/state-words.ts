import type { KeyStateWord, Severity } from '../../../src/wire.ts'

/** What each state means, in a sentence; the same as in the documents. */
export const meanings: Readonly<Record<KeyStateWord | 'absent', string>> = {
  ready: 'Owed a run, and can be taken by a worker now.',
  delayed: 'Owed a run at a later time that somebody asked for.',
  backoff: 'Owed a run at a later time that the limiter decided, most often after a failure.',
  processing: 'Held by a worker that is running it.',
  dirty: 'Held by a worker, and asked for again meanwhile: it runs once more when it is done.',
  parked: 'Set aside: it keeps what is asked of it and is not run until somebody puts it back.',
  idle: 'Owed nothing; only a count of failures is left of it.',
  absent: 'Nothing is stored of this key: it is not owed a run.',
}

export const keyStates: readonly KeyStateWord[] = [
  'ready',
  'delayed',
  'backoff',
  'processing',
  'dirty',
  'parked',
  'idle',
]

/** How much a severity asks of whoever looks. */
export type Alarm = 'bad' | 'warn' | 'calm' | 'good'

export const alarms: Readonly<Record<Severity, Alarm>> = {
  'no workers': 'bad',
  'leases lost': 'bad',
  'falling behind': 'warn',
  'waiting long': 'warn',
  failing: 'warn',
  paused: 'calm',
  ok: 'good',
}
