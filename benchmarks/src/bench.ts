// `node src/bench.ts [name ...]`: runs the benchmarks of that name, or all of them.

const names = ['memory', 'sqlite', 'postgres', 'redis']
const chosen = process.argv.slice(2)
for (const name of chosen) {
  if (!names.includes(name)) {
    console.error(`there is no benchmark ${name}; there are ${names.join(', ')}`)
    process.exit(2)
  }
}
for (const name of names) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  await import(`./${name}/bench.ts`)
}
