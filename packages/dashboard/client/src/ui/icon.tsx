import type { JSX } from 'preact'

// Drawn on a grid of 16 by 16, one stroke wide.
const shapes = {
  ready: 'M8 8m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0M8 8m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0',
  delayed: 'M8 8m-5.500 0a5.500 5.500 0 1 0 11 0a5.500 5.500 0 1 0-11 0M8 4.800V8l2.200 1.600',
  backoff: 'M3 3v4h4M3.300 7A5.200 5.200 0 1 1 4.400 11.600',
  processing: 'M5 3.200v9.600L12.800 8z',
  dirty: 'M3.500 4v8l6-4zM9.500 4v8M12.500 4v8',
  parked: 'M3 3h10v10H3zM6.400 11V5h2.200a1.700 1.700 0 0 1 0 3.600H6.400',
  idle: 'M8 8m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0',
  absent: 'M8 8m-5.500 0a5.500 5.500 0 1 0 11 0a5.500 5.500 0 1 0-11 0M4.200 4.200l7.600 7.600',
  bad: 'M5.200 2h5.600L14 5.200v5.600L10.800 14H5.200L2 10.800V5.200zM8 5v3.600M8 10.900v.2',
  warn: 'M8 2.200 14.400 13.500H1.600zM8 6.400v3.200M8 11.500v.1',
  calm: 'M5.500 3.500v9M10.500 3.500v9',
  good: 'M3 8.500 6.400 12 13 4.500',
  unknown: 'M8 8m-5.500 0a5.500 5.500 0 1 0 11 0a5.500 5.500 0 1 0-11 0M5.500 8h5',
  cross: 'M4 4l8 8M12 4l-8 8',
  search: 'M7 7m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0M10 10l4 4',
  copy: 'M6 6h7v7H6zM3 10V3h7',
  sun: 'M8 8m-2.800 0a2.800 2.800 0 1 0 5.600 0a2.800 2.800 0 1 0-5.600 0M8 1.500v1.400M8 13.100v1.400M1.500 8h1.400M13.100 8h1.400M3.400 3.400l1 1M11.600 11.600l1 1M12.600 3.400l-1 1M4.400 11.600l-1 1',
  moon: 'M13 9.600A5.600 5.600 0 0 1 6.400 3a5.600 5.600 0 1 0 6.600 6.600z',
  rows: 'M3 4h10M3 8h10M3 12h10',
  closeRows: 'M3 3h10M3 5.500h10M3 8h10M3 10.500h10M3 13h10',
  right: 'M6 3.500 10.500 8 6 12.500',
  left: 'M10 3.500 5.500 8l4.500 4.500',
  plus: 'M8 3v10M3 8h10',
  lock: 'M4 7.500h8V13H4zM5.500 7.500V5.300a2.500 2.500 0 0 1 5 0v2.200',
  out: 'M6 3H3v10h3M9.500 4.500 13 8l-3.500 3.500M13 8H6',
} as const

export type IconName = keyof typeof shapes

/** A small picture next to a word; screen readers skip it. */
export function Icon({ name, class: more = '' }: { name: IconName; class?: string }): JSX.Element {
  return (
    <svg class={`icon ${more}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={shapes[name]} />
    </svg>
  )
}
