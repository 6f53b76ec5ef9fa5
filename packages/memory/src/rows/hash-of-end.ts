const spread = 0x9e3779b1
const mix = 0x85ebca6b

/**
 * A 32-bit hash of the length of `key` and its last `units` code units.
 *
 * Reading a unit costs about 2 ns, which is most of the cost of a hash, and the end of a key is
 * where keys of one queue differ. Keys with the same end get the same hash; the index notices, and
 * asks for more units.
 *
 * The very last unit is added and not mixed in, so that keys which count up have buckets side by side
 * in the index, and adding or finishing them in turn hits the same cache lines: decision 0021.
 */
export function hashOfEnd(key: string, units: number): number {
  const last = key.length - 1
  let hash = Math.imul(last, spread)
  for (let at = last >= units ? last + 1 - units : 0; at < last; at += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(at), mix)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash, spread)
  return ((hash ^ (hash >>> 16)) + key.charCodeAt(last)) | 0
}
