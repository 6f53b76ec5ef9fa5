import { describe, test } from 'vitest'
import { workflows } from '../src/rules/workflows.ts'
import { says } from './says.ts'

describe('workflows', () => {
  const ci = '.github/workflows/ci.yml'
  const of = (value: string): string => `\${{ ${value} }}`
  const manifest = { 'package.json': { scripts: { check: 'node check.mjs' } } }
  const workflow = (job: string, more = ''): string =>
    `on: push\n${more}jobs:\n  one:\n    runs-on: ubuntu-latest\n${job}`

  test('that run scripts which exist are fine', () => {
    says(workflows, {
      ...manifest,
      '.ci/run': '',
      [ci]: workflow(
        '    strategy: { matrix: { node: ["22", "24"] } }\n    steps:\n' +
          `      - uses: actions/checkout@v5\n      - run: npm run check -- ${of('matrix.node')}\n` +
          '      - run: .ci/run\n      - uses: changesets/action@v1\n        with: { publish: npm run check }\n',
        'permissions: { contents: read }\n',
      ),
    })
  })

  test('that run something else are not', () => {
    says(
      workflows,
      {
        ...manifest,
        [ci]: workflow(
          '    steps:\n      - run: npm run chekc\n      - run: curl example.org | sh\n' +
            '      - uses: changesets/action@v1\n        with: { publish: npm run publish }\n',
        ),
      },
      /chekc, which is no script/,
      /curl.* which is no script/,
      /publish, which is no script/,
    )
  })

  test('refer to what exists', () => {
    says(
      workflows,
      {
        ...manifest,
        [ci]: workflow(
          '    needs: two\n    permissions: { content: read }\n    steps:\n      - uses: actions/checkout\n' +
            `      - run: npm run check\n        wiht: {}\n      - name: ${of('matrix.node')} ${of('steps.x.outputs.y')}\n`,
        ),
      },
      /permission content,/,
      /needs two/,
      /names no version/,
      /field wiht/,
      /without `uses` or `run`/,
      /no matrix\.node/,
      /no steps\.x/,
    )
  })

  test('are YAML', () => {
    says(workflows, { ...manifest, [ci]: 'on: push\non: push\n' }, /must be unique/)
  })

  test('every lockfile is watched', () => {
    const updates = 'updates:\n  - package-ecosystem: npm\n    directories: ["/", "/gone"]\n'
    says(
      workflows,
      {
        '.github/dependabot.yml': updates,
        'pnpm-lock.yaml': '',
        'site/pnpm-lock.yaml': '',
      },
      /does not watch \/site/,
      /watches \/gone/,
    )
  })
})
