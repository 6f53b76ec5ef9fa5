/** The exit codes of `sluice`. */
export const exitCodes = {
  /** Success. */
  ok: 0,
  /** Failed; a line on stderr says why. */
  failed: 1,
  /** A usage error, or not confirmed; nothing was changed, but by the lines of `add --stdin` before a bad one. */
  usage: 2,
  /** `doctor` found a problem. */
  unhealthy: 3,
  /** A named key or queue, a context to use or to delete, or triggers to drop, do not exist. */
  notFound: 4,
} as const

/** One of the {@link exitCodes}. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]
