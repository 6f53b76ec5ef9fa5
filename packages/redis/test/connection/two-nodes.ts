import { systemEnvironment } from '@sluice/core/driver'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import type { Address, LinkOptions } from '../../src/clients/link.ts'
import type { NodeAddress } from '../../src/connection/slots.ts'

/** Two nodes of a cluster that are made up, and the connections to them. */
export interface TwoNodes {
  readonly nodes: readonly NodeAddress[]
  readonly clock: FakeClock
  readonly options: LinkOptions
  /** What a test changes. */
  readonly cluster: {
    /** The port of the primary of all slots. */
    primary: number
    /** Whether commands are not answered. */
    isSilent: boolean
    /** Whether no connection can be opened. */
    isAway: boolean
    /** The name of the first node in the cluster. */
    first: string
    /** The port of a node that answers a write with an error, and the error. */
    refuses?: readonly [port: number, error: string]
    /** What a subscription waits for. */
    subscribing?: Promise<void>
  }
  /** The ports of the nodes on which there is a subscription. */
  readonly listening: ReadonlySet<number>
  /** The addresses of the connections that are open. */
  readonly open: ReadonlySet<Address | undefined>
  /** How many connections were begun. */
  begun(): number
  /** A node ends: its connections break, and no other is opened. */
  kill(port: number): void
}

export function twoNodes(): TwoNodes {
  const nodes = [1, 2].map((port) => ({ host: 'node', port }))
  const cluster: TwoNodes['cluster'] = {
    primary: 1,
    isSilent: false,
    isAway: false,
    first: 'id 1',
  }
  const clock = fakeClock()
  const open = new Map<Address | undefined, () => void>()
  const dead = new Set<number>()
  const listening = new Set<number>()
  let begun = 0
  const answer = async ([name]: readonly string[], port: number): Promise<unknown> => {
    if (name === 'INFO') {
      const role = port === cluster.primary ? 'master' : 'slave'
      return `run_id:of${port}\nrole:${role}\nmaster_repl_offset:0`
    }
    if (name === 'EVAL' || name === 'WAIT') return 0
    if (cluster.isSilent) await new Promise(() => {})
    if (name === 'SET') {
      if (cluster.refuses?.[0] === port) throw new Error(cluster.refuses[1])
      return `OK of ${port}`
    }
    const all = [
      ['node', 1, cluster.first],
      ['node', 2, 'id 2'],
    ]
    return [[0, 16_383, ...(cluster.primary === 1 ? all : all.reverse())]]
  }
  const options: LinkOptions = {
    environment: { ...systemEnvironment, clock },
    timeoutMs: 5_000,
    async openClient(address, events) {
      const { port } = address as { readonly port: number }
      begun += 1
      if (cluster.isAway || dead.has(port)) throw new Error('refused')
      const ended = new Promise<never>((_, reject) => {
        events.onMade(() => {
          open.delete(address)
          reject(new Error('destroyed'))
        })
      })
      ended.catch(() => {})
      open.set(address, () => events.onClose(new Error('it was killed')))
      return {
        isShareable: false,
        send: (command) => Promise.race([answer(command, port), ended]),
        async subscribe() {
          await cluster.subscribing
          listening.add(port)
        },
        unsubscribe: async () => void listening.delete(port),
        hold: () => {},
      }
    },
  }
  const kill = (port: number): void => {
    dead.add(port)
    for (const [address, end] of open) {
      if ((address as { readonly port: number }).port === port) end()
    }
  }
  // A view that tests compare as a set.
  const addresses = {
    get size() {
      return open.size
    },
    [Symbol.iterator]: () => open.keys(),
  } as ReadonlySet<Address | undefined>
  return { nodes, clock, options, cluster, listening, open: addresses, begun: () => begun, kill }
}
