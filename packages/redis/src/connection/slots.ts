import type { Reply } from './connections.ts'

const slotCount = 16_384

/** The polynomial 0x1021, one entry per byte. */
const table: Uint16Array = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit += 1) {
    crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff
  }
  return crc
})

const encoder = new TextEncoder()

/** The slot of a key in a cluster: of the text within its first braces, if there is one. */
export function slotOf(key: string): number {
  const begin = key.indexOf('{')
  const end = begin < 0 ? -1 : key.indexOf('}', begin + 1)
  const hashed = end > begin + 1 ? key.slice(begin + 1, end) : key
  let crc = 0
  for (const byte of encoder.encode(hashed)) {
    crc = ((crc << 8) ^ (table[(crc >> 8) ^ byte] ?? 0)) & 0xffff
  }
  return crc % slotCount
}

/** The host and port of a node. */
export interface NodeAddress {
  readonly host: string
  readonly port: number
}

/** Slots in a row that one primary has. */
export interface SlotRange {
  readonly from: number
  readonly to: number
  /** The id of the primary. */
  readonly id: string
  /** The primary, then its replicas. */
  readonly nodes: readonly NodeAddress[]
}

/** The answer to `CLUSTER SLOTS`. A node without a host has that of the node that was asked. */
export function slotRanges(reply: Reply, asked: NodeAddress | undefined): readonly SlotRange[] {
  const ranges = (reply as readonly [number, number, ...Reply[][]][]).map(
    ([from, to, ...nodes]): SlotRange => ({
      from,
      to,
      id: String(nodes[0]?.[2]),
      nodes: nodes.map(([host, port]) => ({
        host: String(host || asked?.host),
        port: Number(port),
      })),
    }),
  )
  return ranges.sort((one, other) => one.from - other.from)
}
