import { type ErrorCode, SluiceError } from '@sluice/core'
import { ConnectionError, ReplyError } from './connections.ts'

/** The error of a client library as that of a server; undefined if it comes from the connection. */
export function replyError(error: unknown): ReplyError | undefined {
  if (error instanceof ReplyError) return error
  if (!(error instanceof Error)) return undefined
  // Errors of Node and of libraries begin with a lower-case word, or carry a code of the system.
  const isReply = /^[A-Z][A-Z0-9_]+( |$)/.test(error.message) && !('syscall' in error)
  return isReply ? new ReplyError(error.message, { cause: error }) : undefined
}

interface Meaning {
  readonly code: ErrorCode
  readonly retryable: boolean
  readonly advice?: string
}

const ofCluster =
  '; this server is part of a cluster: connect to it by redis-cluster://, or with a client of the cluster'

const busy: Meaning = { code: 'ERR_STORE_BUSY', retryable: true }

/** The meaning of errors that a server gives before it has executed anything. */
const meanings: Readonly<Record<string, Meaning>> = {
  TRYAGAIN: busy,
  CLUSTERDOWN: busy,
  LOADING: busy,
  MASTERDOWN: busy,
  READONLY: busy,
  BUSY: busy,
  MOVED: { ...busy, advice: ofCluster },
  CROSSSLOT: { code: 'ERR_STORE', retryable: false, advice: ofCluster },
  ASK: busy,
  OOM: {
    code: 'ERR_STORE_FULL',
    retryable: true,
    advice: '; raise maxmemory, or wait until keys have been finished',
  },
  MISCONF: { code: 'ERR_STORE', retryable: true, advice: '; look at the log of the server' },
  NOREPLICAS: {
    code: 'ERR_STORE',
    retryable: true,
    advice: '; fewer replicas are connected than min-replicas-to-write demands',
  },
  NOAUTH: { code: 'ERR_STORE', retryable: true },
  WRONGPASS: { code: 'ERR_STORE', retryable: true },
  WRONGTYPE: {
    code: 'ERR_STORE',
    retryable: false,
    advice:
      '; another program has written a key under the prefix: delete it, or choose a prefix of your own',
  },
}

const withheld: Meaning = {
  code: 'ERR_STORE',
  retryable: false,
  advice:
    '; queues need it: grant it to the user, and rename no command in the configuration of the server',
}

/** A command that every server has, unless it was renamed, and no Sentinel. */
const lackedBySentinels = /unknown command '(EVAL|CLUSTER)'/

const ofSentinel: Meaning = {
  ...withheld,
  advice:
    '; a Sentinel has no such command: connect to it by redis-sentinel://host:port/name; in the ' +
    'configuration of a server, rename no command',
}

function meaningOf({ code, message, isWithheld }: ReplyError): Meaning {
  if (isWithheld) return lackedBySentinels.test(message) ? ofSentinel : withheld
  const isNoCluster = message.includes('cluster support disabled')
  const advice = isNoCluster ? '; connect to it by redis://, or with a client of one server' : ''
  return meanings[code] ?? { code: 'ERR_STORE', retryable: false, advice }
}

/** Any failure of the store, as a `SluiceError`. */
export function storeError(error: unknown): SluiceError {
  if (SluiceError.is(error)) return error
  if (error instanceof ReplyError) {
    const { code, retryable, advice = '' } = meaningOf(error)
    const message = `Redis answered: ${error.message}${advice}`
    return new SluiceError(code, message, { cause: error, retryable })
  }
  if (error instanceof ConnectionError && error.wasSent) {
    const message = `the outcome of a call to Redis is unknown: ${error.message}`
    return new SluiceError('ERR_UNKNOWN_OUTCOME', message, { cause: error })
  }
  const text = error instanceof Error ? error.message : String(error)
  const advice = adviceFor(text)
  return new SluiceError('ERR_STORE', `Redis cannot be reached: ${text}${advice}`, {
    cause: error,
    retryable: error instanceof ConnectionError,
  })
}

/**
 * Advice for an attempt to connect. One with TLS to a server without it is silent, the opposite is cut off, and so is
 * one too many: ioredis has written over the connection, which fails, before it reads the reason.
 */
function adviceFor(text: string): string {
  if (/: (NOAUTH|WRONGPASS) /.test(text))
    return '; correct the user and the password in the options'
  if (/^the Sentinel at .*unknown command 'SENTINEL'/.test(text))
    return '; it is no Sentinel: connect to it by redis://'
  const isUnanswered = /^no connection.* (was silent|ECONNRESET|EPIPE|closed)/.test(text)
  return isUnanswered
    ? '; check the address, whether it needs TLS (rediss), and the maxclients of the server'
    : ''
}
