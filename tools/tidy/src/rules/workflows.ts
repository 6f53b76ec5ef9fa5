import { posix } from 'node:path'
import { parseDocument } from 'yaml'
import type { Repository } from '../repository.ts'

type Fields = Readonly<Record<string, unknown>>

const known = {
  workflow: ['name', 'on', 'concurrency', 'permissions', 'env', 'defaults', 'jobs'],
  job: [
    ...['name', 'needs', 'if', 'runs-on', 'container', 'environment', 'permissions'],
    ...['timeout-minutes', 'strategy', 'steps', 'env', 'defaults', 'concurrency', 'services'],
  ],
  step: [
    ...['id', 'name', 'if', 'uses', 'with', 'run', 'env', 'shell', 'working-directory'],
    ...['timeout-minutes', 'continue-on-error'],
  ],
} as const

const scopes = [
  ...['actions', 'attestations', 'checks', 'contents', 'deployments', 'discussions', 'id-token'],
  ...['issues', 'packages', 'pages', 'pull-requests', 'security-events', 'statuses'],
]

/**
 * The files of `.github` are YAML, workflows have no field that is unknown, what they refer to
 * exists, and every command that they run is a script of the repository, so that it runs anywhere.
 */
export function workflows(repository: Repository): string[] {
  const problems: string[] = []
  for (const [path, text] of repository) {
    if (!/^\.github\/.*\.ya?ml$/.test(path)) continue
    const document = parseDocument(text)
    if (document.errors.length > 0) {
      problems.push(...document.errors.map(({ message }) => `${path}: ${message.split('\n')[0]}`))
      continue
    }
    const content = fields(document.toJS())
    const say = (problem: string): number => problems.push(`${path}: ${problem}`)
    if (path.startsWith('.github/workflows/')) checkWorkflow(content, repository, say)
    if (path === '.github/dependabot.yml') checkDependabot(content, repository, say)
  }
  return problems
}

type Say = (problem: string) => void

function checkWorkflow(workflow: Fields, repository: Repository, say: Say): void {
  unknownFields(workflow, known.workflow, 'the workflow', say)
  if (workflow['on'] === undefined) say('says not when it runs')
  checkPermissions(workflow['permissions'], 'the workflow', say)
  const jobs = fields(workflow['jobs'])
  for (const [id, value] of Object.entries(jobs)) {
    const job = fields(value)
    const where = `the job ${id}`
    unknownFields(job, known.job, where, say)
    if (typeof job['runs-on'] !== 'string') say(`${where} has no runs-on`)
    checkPermissions(job['permissions'], where, say)
    for (const needed of list(job['needs'])) {
      if (!(String(needed) in jobs)) say(`${where} needs ${needed}, which is no job`)
    }
    checkSteps(list(job['steps']).map(fields), where, repository, say)
    checkExpressions(job, where, say)
  }
}

function checkPermissions(permissions: unknown, where: string, say: Say): void {
  for (const [scope, level] of Object.entries(fields(permissions))) {
    if (!scopes.includes(scope)) say(`${where} has a permission ${scope}, which is unknown`)
    if (!['read', 'write', 'none'].includes(String(level))) {
      say(`${where} has the permission ${scope}: ${level}`)
    }
  }
}

function checkSteps(
  steps: readonly Fields[],
  where: string,
  repository: Repository,
  say: Say,
): void {
  if (steps.length === 0) say(`${where} has no steps`)
  for (const step of steps) {
    unknownFields(step, known.step, where, say)
    const { uses, run } = step
    if ((uses === undefined) === (run === undefined)) {
      say(`${where} has a step without \`uses\` or \`run\`, or with both`)
    }
    if (uses !== undefined && !/^[\w.-]+(\/[\w.-]+)+@v?[\w.-]+$/.test(String(uses))) {
      say(`${where} uses ${uses}, which names no version`)
    }
    // Commands in the inputs of actions, too.
    const inputs = Object.values(fields(step['with'])).map(String)
    const commands = inputs.filter((input) => /^(npm|npx|pnpm|node) /.test(input))
    for (const command of [...(run === undefined ? [] : [String(run)]), ...commands]) {
      for (const line of command.trim().split('\n')) checkCommand(line, where, repository, say)
    }
  }
}

function checkCommand(line: string, where: string, repository: Repository, say: Say): void {
  const [program = '', verb, name = ''] = line.trim().split(/\s+/)
  if (program === 'npm' && verb === 'run') {
    const { scripts } = fields(JSON.parse(repository.get('package.json') ?? '{}'))
    if (!(name in fields(scripts))) say(`${where} runs ${name}, which is no script`)
  } else if (!repository.has(program)) {
    say(`${where} runs \`${line}\`, which is no script of the repository`)
  }
}

/** What `${{ … }}` refers to in a job. */
function checkExpressions(job: Fields, where: string, say: Say): void {
  const matrix = fields(fields(job['strategy'])['matrix'])
  const steps = list(job['steps']).map((step) => fields(step)['id'])
  for (const [, expression = ''] of JSON.stringify(job).matchAll(/\$\{\{\s*(.*?)\s*\}\}/g)) {
    for (const [reference, context, member = ''] of expression.matchAll(/\b([a-z]+)\.([\w-]+)/g)) {
      if (context === 'matrix' && !(member in matrix)) say(`${where} has no ${reference}`)
      if (context === 'steps' && !steps.includes(member)) say(`${where} has no ${reference}`)
    }
  }
}

/** Every lockfile is kept up to date. */
function checkDependabot(content: Fields, repository: Repository, say: Say): void {
  const watched = list(content['updates'])
    .map(fields)
    .filter((update) => update['package-ecosystem'] === 'npm')
    .flatMap((update) => list(update['directories'] ?? update['directory']))
  const lockfiles = [...repository.keys()].filter((path) => /(^|\/)pnpm-lock\.yaml$/.test(path))
  const folders = lockfiles.map((path) => posix.join('/', posix.dirname(path)))
  for (const folder of folders) if (!watched.includes(folder)) say(`does not watch ${folder}`)
  for (const folder of watched) {
    if (!folders.includes(String(folder))) say(`watches ${folder}, which has no lockfile`)
  }
}

function unknownFields(value: Fields, names: readonly string[], where: string, say: Say): void {
  for (const name of Object.keys(value)) {
    if (!names.includes(name)) say(`${where} has a field ${name}, which is unknown`)
  }
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function list(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}
