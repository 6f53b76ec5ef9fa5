import type { Timer } from '@sluice/core'
import { type Address, Link, type LinkOptions } from '../clients/link.ts'
import {
  type Command,
  ConnectionError,
  closedMeanwhile,
  type Reply,
  ReplyError,
} from './connections.ts'
import { mostAgreed } from './most-agreed.ts'
import { Server } from './server.ts'
import { type NodeAddress, type SlotRange, slotOf, slotRanges } from './slots.ts'
import type { Topology } from './topology.ts'

/** How often a command follows a redirection at most. */
const redirectionsMax = 5

/** The least time between two looks at the table of slots, in milliseconds; and after one that failed. */
const refreshRestMs = 100
const failedRestMs = 1_000

interface Owned extends SlotRange {
  readonly server: Server
}

/** The primaries of a cluster. */
export class Cluster implements Topology {
  readonly isCluster = true
  onChange: () => void = () => {}
  readonly #options: LinkOptions
  readonly #roots: readonly NodeAddress[]
  /** Primaries by their ids in the cluster. */
  readonly #servers = new Map<string, Server>()
  readonly #addresses = new Map<string, NodeAddress>()
  #ranges: readonly Owned[] = []
  /** Every node that was named last, replicas too. */
  #nodes: readonly NodeAddress[] = []
  #refreshing: Promise<void> | undefined
  #isStale = false
  #rest: Timer | undefined
  /** The connection over which a node is asked for the table of slots. */
  #asked: Link | undefined
  #isClosed = false

  constructor(options: LinkOptions, roots: readonly NodeAddress[]) {
    this.#options = options
    this.#roots = roots
  }

  serverOf(key: string): Server {
    const slot = slotOf(key)
    const range = this.#ranges.find(({ from, to }) => from <= slot && slot <= to)
    if (range === undefined) throw new ConnectionError(`no node is known for slot ${slot}`, false)
    return range.server
  }

  servers(): readonly Server[] {
    return [...new Set(this.#ranges.map(({ server }) => server))]
  }

  async send(key: string, command: Command): Promise<Reply> {
    let server = this.serverOf(key)
    let isAsking = false
    for (let redirections = 0; ; redirections += 1) {
      try {
        if (isAsking) return await server.sendPair(['ASKING'], command)
        return await server.send(command)
      } catch (error) {
        if (!(error instanceof ReplyError)) throw error
        const { code } = error
        if (code === 'READONLY') server.demoted()
        if (code === 'CLUSTERDOWN' || code === 'READONLY') this.#refreshSoon()
        if (code !== 'MOVED' && code !== 'ASK') throw error
        if (redirections === redirectionsMax) throw undecided(error)
        // Nothing was executed, so that it may be sent to the other server.
        isAsking = code === 'ASK'
        if (!isAsking) this.#refreshSoon()
        server = await this.#redirected(error, server)
      }
    }
  }

  doubt(): void {
    this.#refreshSoon()
  }

  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().then(
      () => this.#restAfterLook(refreshRestMs),
      (error: unknown) => {
        this.#isStale = true
        // The look has tried every node.
        this.#restAfterLook(failedRestMs)
        throw error
      },
    )
    return this.#refreshing
  }

  close(): void {
    this.#isClosed = true
    this.#rest?.stop()
    this.#asked?.close()
    for (const server of this.#servers.values()) server.close()
  }

  /** One look at a time, with a rest in between. */
  #refreshSoon(): void {
    this.#isStale = true
    if (this.#isClosed || this.#refreshing !== undefined || this.#rest !== undefined) return
    this.#isStale = false
    this.refresh().catch(() => {})
  }

  #restAfterLook(restMs: number): void {
    this.#refreshing = undefined
    this.#rest?.stop()
    if (this.#isClosed) return
    this.#rest = this.#options.environment.clock.startTimer(restMs, () => {
      this.#rest = undefined
      if (this.#isStale) this.#refreshSoon()
    })
  }

  async #redirected(error: ReplyError, from: Server): Promise<Server> {
    const [, , place = ''] = error.message.split(' ')
    const colon = place.lastIndexOf(':')
    const port = Number(place.slice(colon + 1))
    // Without a host, it is that of the server that answered.
    const host = place.slice(0, colon) || this.#addressOf(from)?.host
    // Among those of the table: a node that has gone may have had this address, too.
    const find = (): Server | undefined =>
      this.servers().find((server) => {
        const address = this.#addressOf(server)
        return address?.host === host && address?.port === port
      })
    const known = find()
    if (known !== undefined) return known
    await this.refresh().catch(() => {})
    const found = find()
    if (found === undefined) throw undecided(error)
    return found
  }

  #addressOf(server: Server): NodeAddress | undefined {
    return this.#addresses.get(server.name)
  }

  async #refresh(): Promise<void> {
    const ranges = await this.#askForSlots()
    // Nothing would close a connection to a primary that is new.
    if (this.#isClosed) throw closedMeanwhile()
    this.#nodes = ranges.flatMap(({ nodes }) => nodes)
    for (const { id, nodes } of ranges) {
      const [address] = nodes
      if (address !== undefined) this.#addresses.set(id, address)
    }
    const before = this.#ranges
    this.#ranges = ranges.map((range) => ({ ...range, server: this.#serverWith(range.id) }))
    for (const { from, server } of this.#ranges) {
      if (before.some((range) => range.server === server)) continue
      // A replica that was promoted.
      const old = before.find((range) => range.from <= from && from <= range.to)
      if (old !== undefined) server.replicas.inherit(old.server.replicas)
    }
    this.#dropOthers()
    if (before.length === 0) return
    await this.#reportChanges(before)
    for (const server of this.#servers.values()) server.subscriptions.restore()
  }

  async #reportChanges(before: readonly Owned[]): Promise<void> {
    const had = (range: Owned): boolean =>
      before.some(
        ({ from, to, server }) => server === range.server && from <= range.from && range.to <= to,
      )
    const changed = this.#ranges.filter((range) => !had(range))
    if (changed.length === 0) return
    // The change is reported when it is known which process has the slots now.
    await Promise.allSettled(changed.map(({ server }) => server.connect()))
    this.onChange()
  }

  #serverWith(id: string): Server {
    const known = this.#servers.get(id)
    if (known !== undefined) return known
    const made = new Server(this.#options, async () => this.#addresses.get(id), id, true)
    made.onChange = () => this.onChange()
    // The primary may be gone, or moved.
    made.onFailure = () => this.#refreshSoon()
    made.subscriptions.onMoved = () => this.#refreshSoon()
    this.#servers.set(id, made)
    return made
  }

  /** Nodes that are primaries no longer may still answer what was sent to them. */
  #dropOthers(): void {
    for (const [id, server] of this.#servers) {
      if (this.#isPrimary(server)) continue
      this.#options.environment.clock.startTimer(this.#options.timeoutMs, () => {
        if (this.#isPrimary(server) || this.#servers.get(id) !== server) return
        this.#servers.delete(id)
        server.close()
      })
    }
  }

  #isPrimary(server: Server): boolean {
    return this.#ranges.some((range) => range.server === server)
  }

  /** Asks the primaries that are connected; if there is none, every node that was ever named. */
  async #askForSlots(): Promise<readonly SlotRange[]> {
    const command = ['CLUSTER', 'SLOTS']
    const connected = this.servers().filter(({ link }) => link !== undefined)
    if (connected.length > 0) {
      const asked = connected.map(async (server) =>
        slotRanges(await server.send(command), this.#addressOf(server)),
      )
      const answer = await mostAgreed(this.#options.environment.clock, asked)
      if (answer !== undefined) return answer
    }
    let failure: unknown
    const all = [...this.#nodes, ...this.#roots]
    const byName = new Map(all.map((address) => [`${address.host} ${address.port}`, address]))
    for (const address of byName.values()) {
      if (this.#isClosed) throw closedMeanwhile()
      try {
        return await this.#askAt(address, command)
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  async #askAt(address: NodeAddress, command: readonly string[]): Promise<readonly SlotRange[]> {
    const link = await Link.open(this.#options, address as Address, (begun) => {
      this.#asked = begun
    })
    try {
      const ranges = slotRanges(await link.send(command), address)
      if (ranges.length === 0) throw new ConnectionError('the cluster serves no slots', false)
      return ranges
    } finally {
      link.close()
    }
  }
}

/** Nothing was executed. */
function undecided(error: ReplyError): ConnectionError {
  const message = `the primaries do not agree on the slot (${error.message})`
  return new ConnectionError(message, false, error)
}
