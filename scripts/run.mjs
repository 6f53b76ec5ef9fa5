// `node scripts/run.mjs <command> [arguments]`: what the root package.json scripts call. Needs
// Node 20 and npm, nothing else; see toolbox.mjs.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { changeAddress } from './address.mjs'
import { checkPackages } from './check-packages.mjs'
import { squash } from './first-notes.mjs'
import { ensureInstalled, fail, root, run, say, toolEnv } from './toolbox.mjs'

/** The lowest that `engines` of the packages allows. */
const oldestNode = '22.14.0'

const build = () => {
  say('building')
  return run('turbo', ['run', 'build', '--output-logs=errors-only', '--concurrency=2'])
}

async function release(part) {
  await ensureInstalled()
  return (await build()) || run('node', ['scripts/release.mjs', part])
}

/** Runs steps in order, all of them, and answers with the first code that is not zero. */
async function all(...steps) {
  let code = 0
  for (const step of steps) code = (await step()) || code
  return code
}

const commands = {
  async test(args) {
    await ensureInstalled()
    // The tests read the sources; only those that start a built program need this, so a build
    // that fails is a failure of its own and does not hide what the tests have to say.
    const built = await build()
    say(args.length === 0 ? 'running every test' : `running the tests for: ${args.join(' ')}`)
    return (await run('vitest', ['run', ...args])) || built
  },

  // The Node that the packages promise to run on is older than the one we work with. What depends
  // on the Node in use is run again on it: every package, but of the databases only the suite, and of
  // the dashboard what answers a page, not what the page does in a browser.
  async oldest(args) {
    await ensureInstalled()
    const at = args.indexOf('--node')
    const node = at === -1 ? oldestNode : args.splice(at, 2)[1]
    // As in `test`: some tests start a built program.
    const built = await build()
    say(`running the tests of the packages on Node ${node}`)
    const databases = ['postgres', 'redis', 'sqlite']
    // The client of Kubernetes asks for a newer Node than the package does.
    const notHere = ['kubernetes', ...databases]
    const projects = readdirSync(join(root, 'packages'))
      .filter((name) => existsSync(join(root, 'packages', name, 'test')))
      .filter((name) => !notHere.includes(name))
      .flatMap((name) => ['--project', name])
    const onOldest = (...more) =>
      run('vitest', ['run', '--reporter=dot', ...more, ...args], {
        versions: { node },
      })
    // Side by side: the second is three files, of which one takes long.
    const codes = await Promise.all([
      onOldest(...projects, '--exclude', '**/*.browser.test.ts'),
      onOldest(
        ...['--project', 'sqlite', '--project', 'redis'],
        ...['test/conformance.test', 'test/old-sqlite.test', 'conformance/conformance.test'],
      ),
    ])
    return [...codes, built].find((code) => code !== 0) ?? 0
  },

  // `npm test` repeats the pairs of mutant and case that were seen; this meets every mutant with
  // every case, and sees that the pairs are still those of the file (`-u` writes it).
  async mutants(args) {
    await ensureInstalled()
    say('running every case on every mutant')
    const projects = ['conformance', 'tests', 'redis'].flatMap((name) => ['--project', name])
    return run('vitest', ['run', ...projects, 'mutants', '--reporter=dot', ...args], {
      env: { SLUICE_EVERY_PAIR: '1' },
    })
  },

  async start(args) {
    // The demo is run from its sources; only the page of its dashboard is built.
    await ensureInstalled('@sluice/demo', '@sluice/dashboard-page')
    if (!args.some((arg) => arg === '--help' || arg === '-h')) {
      say('building the page')
      const page = await run('pnpm', ['--silent', 'run', 'page'], {
        cwd: join(root, 'packages', 'dashboard', 'client'),
      })
      if (page !== 0) return page
      say('starting the demo')
    }
    return run('node', ['--conditions=sluice-source', 'src/demo.ts', ...args], {
      cwd: join(root, 'apps', 'demo'),
    })
  },

  async build() {
    await ensureInstalled()
    return build()
  },

  async lint(args) {
    await ensureInstalled()
    say('linting')
    return all(
      () => run('biome', ['check', '--error-on-warnings', ...args]),
      () => run('eslint', ['.']),
      () => run('knip', ['--treat-config-hints-as-errors']),
    )
  },

  async types() {
    await ensureInstalled()
    say('checking the types, tests included')
    return all(
      () => run('tsc', ['-b']),
      () => run('tsc', ['-p', 'tsconfig.check.json']),
      () => run('tsc', ['-p', 'packages/dashboard/client']),
    )
  },

  async format() {
    await ensureInstalled()
    return run('biome', ['check', '--write'])
  },

  async packages() {
    await ensureInstalled()
    const built = await build()
    say('packing every package and examining what would be published')
    const env = toolEnv()
    const nodes = { 'our Node': env, [`Node ${oldestNode}`]: toolEnv({ node: oldestNode }) }
    return built || (await checkPackages(env, nodes))
  },

  // What a release does, short of publishing: versions, tarballs, installs by npm, pnpm and Yarn.
  'release-dry': () => release('dry'),
  'release-publish': () => release('publish'),

  async 'release-version'() {
    await ensureInstalled()
    const code = await run('changeset', ['version'])
    return code || run('pnpm', ['install', '--lockfile-only'])
  },

  'release-squash': () => squash(),

  // Its own lockfile: what builds the site is no business of `npm test`.
  async site(args) {
    await ensureInstalled()
    const built = await build()
    const cwd = join(root, 'site')
    say('installing what builds the site')
    const installed = await run('pnpm', ['install', '--frozen-lockfile'], { cwd })
    if (built || installed) return built || installed
    say('building the site')
    const made = await run('node', ['build.mjs', ...args.filter((arg) => arg !== '--check')], {
      cwd,
    })
    if (made !== 0) return made
    say('it is in site/dist')
    return args.includes('--check') ? run('node', ['check.mjs'], { cwd }) : 0
  },

  address: (args) => changeAddress(args),

  async docs() {
    await ensureInstalled()
    const built = await build()
    say('writing the reference to docs/api')
    return built || (await run('typedoc', []))
  },

  async bench(args) {
    const env = { SLUICE_BENCH: '1' }
    await ensureInstalled()
    const built = await build()
    // Its own lockfile: rivals and database clients are no business of `npm test`.
    const cwd = join(root, 'benchmarks')
    say('installing what the benchmarks compare with')
    const installed = await run('pnpm', ['install', '--frozen-lockfile'], { cwd })
    return built || installed || run('node', ['src/bench.ts', ...args], { cwd, env })
  },

  // Other people's software beside ours, with a lockfile of its own: it is no business of `npm test`.
  async compat(args) {
    await ensureInstalled()
    const cwd = join(root, 'compat')
    say('installing the libraries and runtimes that we are run with')
    const parts = [
      // Bundlers are given the packages as npm has them.
      () => build(),
      () =>
        run('pnpm', ['install', '--frozen-lockfile', '--ignore-workspace', '--ignore-scripts'], {
          cwd,
        }),
      () => run('vitest', ['run', '--root', cwd, ...args]),
      () => run('tsc', ['-p', cwd]),
    ]
    return all(...parts)
  },

  // The long runs of what `npm test` runs bounded: see tests/torture.
  async torture(args) {
    await ensureInstalled()
    return run(
      'node',
      [
        '--conditions=sluice-source',
        '--disable-warning=ExperimentalWarning',
        '--expose-gc',
        'torture.ts',
        ...args,
      ],
      { cwd: join(root, 'tests') },
    )
  },

  check: () =>
    all(
      () => commands.lint([]),
      () => commands.types(),
      () => commands.test([]),
      () => commands.oldest([]),
      () => commands.packages(),
      () => commands.docs(),
    ),
}

const [name = '', ...args] = process.argv.slice(2)
if (!Object.hasOwn(commands, name)) {
  fail(`there is no command "${name}"; there are ${Object.keys(commands).join(', ')}`)
}
process.exitCode = await commands[name](args)
