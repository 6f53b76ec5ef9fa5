// The tools every command of this repository runs with, whatever the machine has: a pinned Node
// and a pinned pnpm, fetched once into `.tools/`. Plain JavaScript without dependencies, because
// an old Node runs it before anything is installed.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const pinned = {
  node: readFileSync(join(root, '.nvmrc'), 'utf8').trim(),
  pnpm: manifest.packageManager.split('@')[1],
}

const windows = process.platform === 'win32'

export function say(line) {
  console.log(`sluice: ${line}`)
}

/** Ends the process with one readable line instead of a stack. */
export function fail(line) {
  console.error(`sluice: ${line}`)
  process.exit(1)
}

/**
 * A folder whose `node_modules/.bin` holds exactly these versions. It is filled beside its final
 * place and then renamed, so that two commands started at once cannot see it half full.
 */
function ensureTools(versions) {
  const names = Object.entries(versions).map(([name, version]) => `${name}@${version}`)
  const folder = join(root, '.tools', names.join('+'))
  const bin = join(folder, 'node_modules', '.bin')
  if (existsSync(bin)) return bin

  say(`fetching ${names.join(' and ')} into .tools (once)`)
  const filling = `${folder}.${process.pid}`
  mkdirSync(filling, { recursive: true })
  writeFileSync(join(filling, 'package.json'), '{ "private": true }\n')
  const outcome = spawnSync(
    'npm',
    ['install', '--no-audit', '--no-fund', '--ignore-scripts=false', '--save-exact', ...names],
    { cwd: filling, encoding: 'utf8', shell: windows, env: withoutNpmSettings(process.env) },
  )
  if (outcome.status !== 0) {
    rmSync(filling, { recursive: true, force: true })
    fail(`npm could not install ${names.join(' ')}:\n${outcome.stdout}${outcome.stderr}`)
  }
  try {
    renameSync(filling, folder)
  } catch (error) {
    rmSync(filling, { recursive: true, force: true })
    if (!existsSync(bin)) throw error // Someone else was faster, and theirs is as good.
  }
  return bin
}

// `npm run` describes the running script in variables; a nested npm or pnpm would take them for
// wishes of the user. The user's own settings, such as where to install from, stay.
function withoutNpmSettings(env) {
  const aboutTheScript =
    /^npm_(package_|lifecycle_|command$|execpath$|node_execpath$|config_(local_prefix|user_agent|npm_version)$)/i
  return Object.fromEntries(Object.entries(env).filter(([name]) => !aboutTheScript.test(name)))
}

/** The environment in which the repository's own programs are found, and the pinned ones first. */
export function toolEnv(versions = pinned) {
  const bin = ensureTools(versions)
  const env = { ...withoutNpmSettings(process.env), TURBO_TELEMETRY_DISABLED: '1' }
  const key = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH'
  env[key] = [bin, join(root, 'node_modules', '.bin'), env[key]].join(delimiter)
  return env
}

/** Runs a program with the repository's tools; resolves to its exit code. */
export function run(command, args, { cwd = root, env = {}, versions = pinned } = {}) {
  return new Promise((resolve) => {
    // Ctrl-C reaches the child, too, which may have something to say before it ends. A signal to this
    // process alone is passed on. Either may come as soon as the child has started.
    const ignore = () => undefined
    const passOn = (signal) => child.kill(signal)
    process.on('SIGINT', ignore)
    process.on('SIGTERM', passOn)
    const child = spawn(command, args, {
      cwd,
      stdio: 'inherit',
      shell: windows,
      env: { ...toolEnv(versions), ...env },
    })
    const ended = (code) => {
      process.off('SIGINT', ignore)
      process.off('SIGTERM', passOn)
      resolve(code)
    }
    child.on('error', (error) => {
      console.error(`sluice: ${command} did not start: ${error.message}`)
      ended(127)
    })
    child.on('exit', (code, signal) => ended(signal === null ? code : 128))
  })
}

/**
 * Installs what the lockfile names, for the whole workspace or for some packages and what they need.
 * Nothing happens while the lockfile and every manifest are the ones of the last install.
 */
export async function ensureInstalled(...names) {
  const wanted = fingerprint()
  const stamp = join(root, 'node_modules', '.sluice-installed')
  const only = names.length === 0 ? undefined : names.join('+')
  const [done, scope] = existsSync(stamp) ? readFileSync(stamp, 'utf8').trim().split(' ') : []
  if (done === wanted && (scope === 'everything' || scope === only)) return

  // The small install is for a fresh clone; in a checkout that has more it would take things away.
  const partly = only !== undefined && !existsSync(join(root, 'node_modules'))
  say(partly ? `installing what ${names.join(' and ')} need` : 'installing dependencies')
  const filter = partly ? [...names.map((name) => `--filter=${name}...`), '--prod'] : []
  const code = await run(
    'pnpm',
    ['install', '--frozen-lockfile', '--config.confirm-modules-purge=false', ...filter],
    { env: { CI: 'true' } },
  )
  if (code !== 0) fail('pnpm install failed; its own words are above')
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  writeFileSync(stamp, `${wanted} ${partly ? only : 'everything'}\n`)
}

function fingerprint() {
  const hash = createHash('sha256').update(JSON.stringify(pinned))
  for (const file of ['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml', ...manifests()]) {
    hash.update(file).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

function manifests() {
  return ['packages', 'apps', 'examples', 'tools', 'tools/lint/fixture', '.']
    .filter((parent) => existsSync(join(root, parent)))
    .flatMap((parent) =>
      readdirSync(join(root, parent)).map((name) => join(parent, name, 'package.json')),
    )
    .filter((file) => !file.includes('node_modules') && existsSync(join(root, file)))
    .sort()
}
