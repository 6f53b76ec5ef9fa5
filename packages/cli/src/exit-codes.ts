/** What `sluice` exits with. */
export const exitCodes = {
  /** It was done. */
  ok: 0,
  /** It could not be done; a line on stderr says why. */
  failed: 1,
  /** It was called wrongly, or not confirmed; nothing was done. */
  usage: 2,
  /** `doctor` has found something that is not as it has to be. */
  unhealthy: 3,
  /** A key that was named is not there. */
  notFound: 4,
} as const

/** One of the {@link exitCodes}. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]
