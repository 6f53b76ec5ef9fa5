import type { Clock } from '@sluice/core'
import type { Link } from '../clients/link.ts'
import { ConnectionError, ReplyError } from './connections.ts'
import { mostAgreed } from './most-agreed.ts'
import type { NodeAddress } from './slots.ts'

/**
 * Where the primary is, as most of the Sentinels say that answer. All are asked at once: the machine that has
 * just died may have been that of the primary and of a Sentinel.
 */
export async function askSentinels(
  clock: Clock,
  sentinels: readonly NodeAddress[],
  name: string,
  open: (address: NodeAddress) => Promise<Link>,
): Promise<NodeAddress> {
  let failure: unknown
  const asked = sentinels.map(async (sentinel): Promise<NodeAddress> => {
    let link: Link | undefined
    try {
      link = await open(sentinel)
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
    } finally {
      link?.close()
    }
  })
  const address = await mostAgreed(clock, asked)
  if (address === undefined) throw failure
  return address
}
