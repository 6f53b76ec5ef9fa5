const spread = 0x9e3779b1
const mix = 0x85ebca6b

/**
 * A 32-bit hash of the length of `key` and its last `units` code units.
 *
 * Reading a unit costs about 2 ns, which is most of the cost of a hash, and the end of a key is
 * where keys of one queue differ. Keys with the same end get the same hash; the index notices, and
 * asks for more units.
 */
export function hashOfEnd(key: string, units: number): number {
  const { length } = key
  let hash = Math.imul(length, spread)
  for (let at = length > units ? length - units : 0; at < length; at += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(at), mix)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash, spread)
  return hash ^ (hash >>> 16)
}
