// Installs the packed packages into empty projects with npm, pnpm and Yarn, and runs the first program
// of each README there, as it is printed.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { fencesOf, promisedOutput } from '@sluice/doctest/fence'
import { publishedPackages } from './pack.mjs'
import { publishedReadme, readmeOf } from './published-readme.mjs'
import { root, say } from './toolbox.mjs'

const secondsMax = 60
/** What the programs need in addition to our packages, as their READMEs say. */
const strangers = { 'better-sqlite3': '^13.2.0', 'prom-client': '^15.1.3', pg: '^8.23.1' }

const managers = {
  npm: {
    manifest: (files) => ({ dependencies: { ...files, ...strangers } }),
    install: [['npm', ['install', '--no-audit', '--no-fund']]],
    node: ['node'],
  },
  pnpm: {
    manifest: (files) => ({ dependencies: { ...files, ...strangers } }),
    // A tarball names its siblings by version, which the registry does not have yet.
    files: (files) => ({
      'pnpm-workspace.yaml': `packages: []\npmOnFail: ignore\nstrictDepBuilds: false\noverrides:\n${yaml(files)}`,
    }),
    install: [['pnpm', ['install', '--no-frozen-lockfile']]],
    node: ['node'],
  },
  yarn: {
    manifest: (files) => ({ dependencies: { ...files, ...strangers }, resolutions: files }),
    files: () => ({ 'yarn.lock': '', '.yarnrc.yml': yarnSettings('node-modules') }),
    install: [['npx', ['--yes', '-p', '@yarnpkg/cli-dist@4', 'yarn', 'install']]],
    node: ['node'],
  },
  'yarn, without node_modules': {
    manifest: (files) => ({ dependencies: { ...files, ...strangers }, resolutions: files }),
    files: () => ({ 'yarn.lock': '', '.yarnrc.yml': yarnSettings('pnp') }),
    install: [['npx', ['--yes', '-p', '@yarnpkg/cli-dist@4', 'yarn', 'install']]],
    node: ['npx', '--yes', '-p', '@yarnpkg/cli-dist@4', 'yarn', 'node'],
  },
}

const yaml = (files) =>
  Object.entries(files)
    .map(([name, file]) => `  '${name}': '${file}'\n`)
    .join('')

// Yarn asks its own registry, whatever the one of npm is.
function yarnSettings(linker) {
  const { stdout } = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' })
  return `nodeLinker: ${linker}\nenableTelemetry: false\nenableGlobalCache: false\nnpmRegistryServer: '${stdout.trim().replace(/\/$/, '')}'\n`
}

/** Resolves to what went wrong. */
export async function useTarballs(packages) {
  const files = Object.fromEntries(packages.map(({ name, tarball }) => [name, `file:${tarball}`]))
  const programs = firstPrograms()
  const problems = []
  for (const [manager, how] of Object.entries(managers)) {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-release-'))
    try {
      const manifest = { private: true, type: 'module', ...how.manifest(files) }
      const contents = {
        'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
        ...how.files?.(files),
      }
      for (const [name, text] of Object.entries(contents)) writeFileSync(join(folder, name), text)
      const failed = installWith(how, folder)
      if (failed !== undefined) {
        problems.push(`${manager} cannot install the packages:\n${failed}`)
        continue
      }
      let ran = 0
      for (const { name, fence } of programs) {
        const words = await runProgram(how.node, folder, fence)
        if (words === undefined) ran += 1
        else problems.push(`${manager}, the first program of ${name}: ${words}`)
      }
      say(
        `${manager}: ${packages.length} packages installed, ${ran} of ${programs.length} programs ran`,
      )
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return problems
}

function installWith({ install }, cwd) {
  for (const [command, args] of install) {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
    if (status !== 0) return (stdout + stderr).slice(-3_000)
  }
  return undefined
}

/** The first program of each published README that runs as printed, without a server. */
function firstPrograms() {
  return publishedPackages().flatMap(({ folder, manifest: { name } }) => {
    const path = readmeOf({ folder: relative(root, folder).split(sep).join('/'), name })
    const source = readFileSync(join(root, path), 'utf8')
    const [first] = fencesOf(path, source)
    if (first === undefined || !first.runs) return []
    const [shown] = fencesOf(path, publishedReadme(source, path, 'https://github.com/a/b'))
    return [{ name, fence: shown }]
  })
}

async function runProgram([command, ...args], cwd, fence) {
  const promised = promisedOutput(fence)
  const place = join(cwd, 'run')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'first.ts'), `${fence.code}\nexport {}\n`)
  const child = spawn(command, [...args, join('run', 'first.ts')], {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  let output = ''
  let errors = ''
  const missing = () => {
    const lines = output.split('\n').map((line) => line.trim())
    return promised.find((line) => !lines.includes(line))
  }
  child.stdout.on('data', (data) => {
    output += data
    if (fence.isInterrupted && missing() === undefined) process.kill(-child.pid, 'SIGINT')
  })
  child.stderr.on('data', (data) => {
    errors += data
  })
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), secondsMax * 1_000)
  const code = await new Promise((resolve) => {
    child.on('close', (status, signal) => resolve(status ?? signal))
  })
  clearTimeout(timer)
  rmSync(place, { recursive: true, force: true })
  if (missing() !== undefined) return `promises "${missing()}", printed:\n${output}${errors}`
  const isEnded = code === 0 || (fence.isInterrupted && (code === 'SIGINT' || code === 130))
  return isEnded ? undefined : `ended with ${code}\n${output}${errors}`
}
