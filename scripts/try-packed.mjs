// Installs every packed package into an empty folder, as a user would, and lets the command line
// serve a dashboard there: on the oldest Node and on ours, without better-sqlite3.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { say } from './toolbox.mjs'

/** Uses what was packed in some environments, by what they are called; tells what is wrong. */
export async function tryPacked(tarballs, environments, tell) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-packed-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
    const files = readdirSync(tarballs).filter((name) => name.endsWith('.tgz'))
    const paths = files.map((name) => join(tarballs, name))
    const first = Object.values(environments)[0]
    const options = { cwd: folder, env: first, encoding: 'utf8' }
    const installed = spawnSync('npm', ['install', '--no-audit', '--no-fund', ...paths], options)
    if (installed.status !== 0) {
      tell('npm install', installed.stdout + installed.stderr)
      return
    }
    if (existsSync(join(folder, 'node_modules', 'better-sqlite3'))) {
      tell('npm install', 'better-sqlite3 was installed, though nobody asked for it')
    }
    for (const [name, env] of Object.entries(environments)) {
      try {
        await useIt(folder, env)
        say(`${files.length} packages installed by npm serve a dashboard on ${name}`)
      } catch (error) {
        tell(name, error.message)
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function useIt(folder, env) {
  const options = { cwd: folder, env, encoding: 'utf8' }
  const store = 'sqlite:./queue.db'
  const added = spawnSync('npx', ['sluice', '--store', store, 'add', 'jobs', 'job/1'], options)
  if (added.status !== 0) throw new Error(`npx sluice add: ${added.stdout}${added.stderr}`)

  const child = spawn('npx', ['sluice', 'dashboard', store, '--port', '0'], {
    cwd: folder,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  try {
    const address = await addressOf(child)
    const page = await answerOf(address)
    const script = page.match(/src="(\.\/assets\/[^"]+\.js)"/)?.[1]
    if (script === undefined) throw new Error(`the page has no script:\n${page}`)
    await answerOf(new URL(script, address))
    const { queues } = JSON.parse(await answerOf(new URL('api/overview', address)))
    if (queues?.[0]?.queue !== 'jobs') throw new Error('the overview does not show the queue')
  } finally {
    process.kill(-child.pid, 'SIGINT')
  }
  await ended
}

/** The first address that a program prints. */
function addressOf(child) {
  return new Promise((resolve, reject) => {
    let said = ''
    const read = (line) => {
      said += `${line}\n`
      const found = line.match(/https?:\/\/\S+/)
      if (found !== null) resolve(found[0])
    }
    createInterface({ input: child.stdout }).on('line', read)
    createInterface({ input: child.stderr }).on('line', read)
    child.once('close', () => reject(new Error(`npx sluice dashboard ended without:\n${said}`)))
  })
}

async function answerOf(address) {
  const answer = await fetch(address)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}: ${text}`)
  return text
}
