import type { Link } from '../clients/link.ts'
import { ConnectionError } from './connections.ts'
import type { NodeAddress } from './slots.ts'

/** Where the primary is, as the first Sentinel says that answers. */
export async function askSentinels(
  sentinels: readonly NodeAddress[],
  name: string,
  open: (address: NodeAddress) => Promise<Link>,
): Promise<NodeAddress> {
  let failure: unknown
  for (const sentinel of sentinels) {
    let link: Link | undefined
    try {
      link = await open(sentinel)
      const reply = await link.send(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name])
      if (!Array.isArray(reply)) {
        throw new ConnectionError(`the Sentinels know no primary "${name}"`, false)
      }
      return { host: String(reply[0]), port: Number(reply[1]) }
    } catch (error) {
      failure = error
    } finally {
      link?.close()
    }
  }
  throw failure
}
