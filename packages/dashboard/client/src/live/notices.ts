import { signal } from '@preact/signals'

/** Something to be told once. */
export interface Notice {
  readonly id: number
  readonly words: string
  readonly kind: 'done' | 'told' | 'failed'
}

/** What is shown in the corner, newest last. */
export const notices = signal<readonly Notice[]>([])

/** What readers of the screen are told, one thing at a time. */
export const announcement = signal('')

const shownFor = 6_000
let lastId = 0

/** Tells something in the corner and to readers of the screen. */
export function notify(kind: Notice['kind'], words: string): void {
  // What somebody did here comes back as news of the queue: once is enough.
  if (notices.value.some((notice) => notice.words === words)) return
  lastId += 1
  const id = lastId
  notices.value = [...notices.value.slice(-3), { id, words, kind }]
  announcement.value = words
  setTimeout(() => dismiss(id), kind === 'failed' ? 3 * shownFor : shownFor)
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id)
}

/** Tells readers of the screen only. */
export function announce(words: string): void {
  announcement.value = words
}
