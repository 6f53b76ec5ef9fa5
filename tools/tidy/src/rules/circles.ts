import { posix } from 'node:path'
import { importsOf } from '../imports.ts'
import { isSource, type Repository } from '../repository.ts'

const filesMax = 5

/**
 * No more than 5 source files import each other in a circle. Imports of types count: a reader has
 * to follow them too. Biome forbids circles of imports that exist at run time.
 */
export function circles(repository: Repository): string[] {
  const graph = new Map<string, string[]>()
  for (const [path, text] of repository) {
    if (!isSource(path)) continue
    const targets = importsOf(path, text)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => posix.join(posix.dirname(path), specifier))
    graph.set(
      path,
      targets.filter((target) => isSource(target) && repository.has(target)),
    )
  }
  return stronglyConnected(graph)
    .filter((circle) => circle.length > filesMax)
    .map((circle) => {
      const [first = '', ...rest] = circle.sort()
      return `${first}: a circle of ${circle.length} files, the limit is ${filesMax}: ${rest.join(', ')}`
    })
}

/** The sets of nodes that all reach each other (Tarjan's algorithm). */
function stronglyConnected(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const onStack = new Set<string>()
  const found: string[][] = []

  const visit = (node: string): void => {
    index.set(node, index.size)
    low.set(node, index.get(node) as number)
    stack.push(node)
    onStack.add(node)
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next)
      const reached = onStack.has(next) ? low.get(next) : undefined
      if (reached !== undefined) low.set(node, Math.min(low.get(node) as number, reached))
    }
    if (low.get(node) !== index.get(node)) return
    const circle: string[] = []
    let last: string | undefined
    do {
      last = stack.pop() as string
      onStack.delete(last)
      circle.push(last)
    } while (last !== node)
    found.push(circle)
  }
  for (const node of graph.keys()) if (!index.has(node)) visit(node)
  return found
}
