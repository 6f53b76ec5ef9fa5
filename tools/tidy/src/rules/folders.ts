import { posix } from 'node:path'
import { isSource, type Repository } from '../repository.ts'

const filesMax = 15

/** A folder of sources has at most 15 files: one can be read as a list of its ideas. */
export function folders(repository: Repository): string[] {
  const counts = new Map<string, number>()
  for (const path of repository.keys()) {
    if (!isSource(path)) continue
    const folder = posix.dirname(path)
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts]
    .filter(([, count]) => count > filesMax)
    .map(([folder, count]) => `${folder}/: ${count} files; the limit is ${filesMax}`)
}
