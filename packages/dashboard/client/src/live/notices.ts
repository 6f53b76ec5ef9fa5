import { signal } from '@preact/signals'

/** A message that is shown once. */
export interface Notice {
  readonly id: number
  readonly words: string
  readonly kind: 'done' | 'news' | 'failed'
}

/** The notices in the corner, newest last. */
export const notices = signal<readonly Notice[]>([])

/** The text of the live region for screen readers. */
export const announcement = signal('')

/** For how long a notice is shown. */
export const shownForMs: Readonly<Record<Notice['kind'], number>> = {
  done: 6_000,
  news: 6_000,
  failed: 18_000,
}
let lastId = 0

/** Shows a notice in the corner and announces it to screen readers. */
export function notify(kind: Notice['kind'], words: string): void {
  lastId += 1
  const id = lastId
  notices.value = [...notices.value.slice(-3), { id, words, kind }]
  announce(words)
  setTimeout(() => dismiss(id), shownForMs[kind])
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id)
}

/** Announces a text to screen readers only. */
export function announce(words: string): void {
  // The same text twice would be no change, and so not be read again.
  announcement.value = announcement.peek() === words ? `${words}\u00a0` : words
}
