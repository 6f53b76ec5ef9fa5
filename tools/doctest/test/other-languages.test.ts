import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { needs } from '@sluice/needs'
import { validate } from 'dockerfile-utils'
import { describe, test } from 'vitest'
import { parse } from 'yaml'
import { fencesOf } from '../src/fence.ts'
import { type OtherFence, otherFences } from '../src/other-fences.ts'
import { clearAway, complaints, layOut } from '../src/workbench.ts'

// Fences of other languages are checked by the tool that reads such files, or by its parser.
const root = fileURLToPath(new URL('../../../', import.meta.url))
const pages = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
}).split('\n')
const read = (path: string): string => readFileSync(root + path, 'utf8')
const fences = pages
  .filter((path) => path !== '' && !path.startsWith('.changeset/'))
  .flatMap((path) => otherFences(path, read(path)))
const title = ({ path, line, language, kind = '' }: OtherFence): string =>
  `${path}:${line} ${language} ${kind}`.trim()

/** What a program says that is given a file with this text; empty if it is content. */
function said(program: string, args: readonly string[], name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-doctest-'))
  try {
    const file = join(folder, name)
    writeFileSync(file, text)
    const { status, stdout, stderr, error } = spawnSync(program, [...args, file], {
      encoding: 'utf8',
    })
    if (error !== undefined) throw error
    return status === 0 ? '' : `${program} ended with ${status}: ${stdout}${stderr}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const has = (program: string, ...args: string[]): boolean =>
  spawnSync(program, args).error === undefined

describe('shell', () => {
  for (const fence of fences.filter(({ language }) => language === 'sh')) {
    test(title(fence), () => assert.equal(said('bash', ['-n'], 'commands.sh', fence.code), ''))
  }
})

describe('yaml and json', () => {
  for (const fence of fences.filter(({ language }) => language === 'yaml')) {
    test(title(fence), () => assert.equal(typeof parse(fence.code), 'object'))
  }
  for (const fence of fences.filter(({ language }) => language === 'json')) {
    test(title(fence), () => assert.equal(typeof JSON.parse(fence.code), 'object'))
  }
})

describe('Dockerfile', () => {
  for (const fence of fences.filter(({ language }) => language === 'dockerfile')) {
    test(title(fence), () => {
      const found = validate(fence.code).map(
        ({ message, range }) => `${range.start.line}: ${message}`,
      )
      assert.deepEqual(found, [])
    })
  }

  test('a wrong one is noticed', () => {
    assert.notDeepEqual(validate('FROM node:24\nEXPSE 8080\n'), [])
  })
})

const hasSystemd = needs('systemd-analyze', has('systemd-analyze', '--version'))

describe('systemd', () => {
  for (const fence of fences.filter(({ kind }) => kind === 'systemd')) {
    test.skipIf(!hasSystemd)(title(fence), () => {
      // It looks for the program, which is elsewhere here.
      const unit = fence.code.replace('/usr/bin/node', `"${process.execPath}"`)
      assert.equal(said('systemd-analyze', ['verify', '--man=no'], 'orders.service', unit), '')
    })
  }
})

/** A manifest as a program: the compiler knows which members an object of Kubernetes has. */
function asProgram({ path, line, code }: OtherFence): string {
  const object = parse(code) as { kind: string }
  const program = `import type { V1${object.kind} } from '@kubernetes/client-node'\n\nexport const manifest: V1${object.kind} = ${JSON.stringify(object)}\n`
  return `<!-- ${path}:${line} -->\n\`\`\`ts no-run\n${program}\`\`\`\n`
}

/** Kinds of the API itself; others have a definition of their own. */
const isOfTheApi = ({ code }: OtherFence): boolean => !/^apiVersion: \S+\.com\//m.test(code)

describe('Kubernetes', () => {
  const manifests = fences.filter(({ kind }) => kind === 'kubernetes')
  const wrong: OtherFence = {
    ...{ path: 'a wrong one is noticed', line: 1, language: 'yaml', kind: 'kubernetes' },
    code: 'apiVersion: apps/v1\nkind: Deployment\nspec:\n  replica: 2\n',
  }
  const checked = [...manifests.filter(isOfTheApi), wrong]
  const sheets = layOut(checked.flatMap((fence) => fencesOf(fence.path, asProgram(fence))))
  const problems = complaints(sheets)
  clearAway(sheets)
  for (const [at, sheet] of sheets.entries()) {
    const fence = checked[at]
    if (fence === undefined) throw new Error('there is a manifest for each sheet')
    test(title(fence), () => {
      if (fence === wrong) assert.match(problems.get(sheet)?.join() ?? '', /"replica"/)
      else assert.deepEqual(problems.get(sheet), [])
    })
  }
})

describe('docs/operating/deploying.md', () => {
  const path = 'docs/operating/deploying.md'
  const page = read(path)
  const program = fencesOf(path, page)[0]?.code ?? ''
  const own = fences.filter((fence) => fence.path === path)
  const ofKind = (kind: string): OtherFence[] => own.filter((fence) => fence.kind === kind)
  const [deployment, monitor] = ofKind('kubernetes').map(({ code }) => parse(code))
  const [compose] = ofKind('compose').map(({ code }) => parse(code))
  const graceMs = Number(/graceMs: ([\d_]+)/.exec(program)?.[1]?.replaceAll('_', ''))
  const port = Number(/PORT = '(\d+)'/.exec(program)?.[1])

  test('every supervisor waits for the end', () => {
    const pod = deployment.spec.template.spec
    const seconds = [
      pod.terminationGracePeriodSeconds,
      Number.parseInt(compose.services.worker.stop_grace_period, 10),
      Number(/^TimeoutStopSec=(\d+)$/m.exec(ofKind('systemd')[0]?.code ?? '')?.[1]),
    ]
    for (const each of seconds) assert.ok(each * 1_000 > graceMs + 2_000, `${each} s`)
  })

  test('ports and paths are those of the program', () => {
    const [container] = deployment.spec.template.spec.containers
    const [named] = container.ports
    assert.equal(named.containerPort, port)
    assert.match(page, new RegExp(`^EXPOSE ${port}$`, 'm'))
    assert.match(compose.services.worker.healthcheck.test.join(' '), new RegExp(`:${port}/livez`))
    assert.equal(container.livenessProbe.httpGet.port, named.name)
    assert.equal(container.readinessProbe.httpGet.port, named.name)
    const [endpoint] = monitor.spec.podMetricsEndpoints
    assert.equal(endpoint.port, named.name)
    for (const each of [container.livenessProbe.httpGet.path, endpoint.path]) {
      assert.ok(program.includes(`'${each}'`), each)
    }
  })

  test('labels select the pods', () => {
    const { labels } = deployment.spec.template.metadata
    assert.deepEqual(deployment.spec.selector.matchLabels, labels)
    assert.deepEqual(monitor.spec.selector.matchLabels, labels)
  })

  test('the address of the store has one name', () => {
    const [container] = deployment.spec.template.spec.containers
    const [variable] = container.env
    assert.ok(program.includes(variable.name))
    assert.ok(Object.hasOwn(compose.services.worker.environment, variable.name))
  })
})
