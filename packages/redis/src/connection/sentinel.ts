import type { Clock } from '@sluice/core'
import type { Link } from '../clients/link.ts'
import { ConnectionError, ReplyError } from './connections.ts'
import { mostAgreed } from './most-agreed.ts'
import type { NodeAddress } from './slots.ts'

/**
 * Where the primary is, as most of the Sentinels say that answer. All are asked at once: the machine that has
 * just died may have been that of the primary and of a Sentinel. The connections end with the answer, and by the
 * signal: one to a Sentinel that is silent would keep the process alive.
 */
export async function askSentinels(
  clock: Clock,
  sentinels: readonly NodeAddress[],
  name: string,
  open: (address: NodeAddress, onBegin: (link: Link) => void) => Promise<Link>,
  signal: AbortSignal,
): Promise<NodeAddress> {
  let failure: unknown
  const begun: Link[] = []
  const asked = sentinels.map(async (sentinel): Promise<NodeAddress> => {
    try {
      const link = await open(sentinel, (opening) => begun.push(opening))
      const reply = await link.send(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name])
      if (!Array.isArray(reply)) {
        throw new ConnectionError(`the Sentinels know no primary "${name}"`, false)
      }
      return { host: String(reply[0]), port: Number(reply[1]) }
    } catch (error) {
      const from = `the Sentinel at ${sentinel.host}:${sentinel.port} answered`
      failure =
        error instanceof ReplyError
          ? new ConnectionError(`${from}: ${error.message}`, false, error)
          : error
      throw error
    }
  })
  const end = (): void => {
    for (const link of begun) link.close()
  }
  signal.addEventListener('abort', end)
  try {
    const address = await mostAgreed(clock, asked)
    if (address === undefined) throw failure
    return address
  } finally {
    signal.removeEventListener('abort', end)
    end()
  }
}
