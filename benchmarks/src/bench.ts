// `node src/bench.ts [name ...]`: runs the benchmarks of that name, or all of them.
import { existsSync } from 'node:fs'

const names = ['memory', 'sqlite', 'postgres', 'redis']
const chosen = process.argv.slice(2)
for (const name of chosen) {
  if (!names.includes(name)) {
    console.error(`there is no benchmark ${name}; there are ${names.join(', ')}`)
    process.exit(2)
  }
}
for (const name of names) {
  const module = new URL(`./${name}/bench.ts`, import.meta.url)
  if ((chosen.length > 0 && !chosen.includes(name)) || !existsSync(module)) continue
  await import(module.href)
}
