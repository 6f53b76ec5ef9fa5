import { readdirSync } from 'node:fs'

/** What a file in `tests/torture` exports. */
interface TortureModule {
  main(args: string[]): Promise<void>
}

const folder = new URL('torture/', import.meta.url)

const names = readdirSync(folder)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length))

async function run(name: string, args: string[]): Promise<void> {
  const { main } = (await import(new URL(`${name}.ts`, folder).href)) as TortureModule
  await main(args)
}

const [name, ...args] = process.argv.slice(2)
if (name === undefined) {
  console.log(`torture commands: ${names.join(', ')}; all of them run now, one after another`)
  for (const each of names) {
    console.log(`\n== ${each}`)
    try {
      await run(each, [])
    } catch (error) {
      console.error(error)
      process.exitCode = 1
    }
  }
} else if (names.includes(name)) {
  await run(name, args)
} else {
  console.error(`there is no torture command "${name}"; there are ${names.join(', ')}`)
  process.exitCode = 1
}
