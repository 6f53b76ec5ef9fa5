import { emptyKeyState, type KeyState, never, noToken } from '../src/driver/index.ts'

// A key is written as `due/later` with times relative to now (`-` none, `now`, `-5` overdue, `+5` to
// come), and `*` in front if it is held.

/** When the verbs are called. */
export const now = 100_000
/** The token of every `*` key. */
export const token = 77
/** Where the held run of every `*` key came from. */
export const claimed = {
  dueAt: now - 50,
  readyAt: now - 40,
  seq: 5,
  priority: 3,
  askedAt: now - 60,
}

function instant(text: string): number {
  if (text === '-') return never
  return text === 'now' ? now : now + Number(text)
}

/** The state of a key that is written so. */
export function key(text: string): KeyState {
  const isHeld = text.startsWith('*')
  const [due = '-', later = '-'] = text.replace('*', '').split('/')
  const state = emptyKeyState()
  state.dueAt = instant(due)
  state.readyAt = state.dueAt
  state.laterAt = instant(later)
  if (state.dueAt !== never) {
    state.seq = 10
    state.askedAt = now - 20
    state.why = state.dueAt > now ? 'delay' : 'add'
  }
  if (state.laterAt !== never) state.laterWhy = 'delay'
  if (!isHeld) return state
  state.token = token
  state.leaseUntil = now - 1
  state.claimedDueAt = claimed.dueAt
  state.claimedReadyAt = claimed.readyAt
  state.claimedSeq = claimed.seq
  state.claimedPriority = claimed.priority
  state.claimedAskedAt = claimed.askedAt
  return state
}

function time(at: number): string {
  if (at === never) return '-'
  if (at === now) return 'now'
  return at > now ? `+${at - now}` : `${at - now}`
}

/** How the state of a key is written. */
export function written(state: KeyState): string {
  const held = state.token === noToken ? '' : '*'
  return `${held}${time(state.dueAt)}/${time(state.laterAt)}`
}

/** The number that gives a key its place at the tail. */
export const fresh = 20
