// The reference: one module per published package, and the guides of docs/ in the same site.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { OptionDefaults } from 'typedoc'

const published = ['packages', 'apps'].flatMap((parent) =>
  readdirSync(new URL(parent, import.meta.url))
    .map((name) => `${parent}/${name}`)
    .filter((folder) => {
      if (!existsSync(`${folder}/src/index.ts`)) return false
      return JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')).private !== true
    }),
)

/** @type {Partial<import('typedoc').TypeDocOptions>} */
export default {
  name: 'Sluice',
  entryPointStrategy: 'packages',
  entryPoints: published,
  packageOptions: {
    includeVersion: true,
    disableSources: true,
    excludePrivate: true,
    excludeInternal: true,
    readme: 'README.md',
  },
  out: 'docs/api',
  readme: 'README.md',
  projectDocuments: globSync('docs/**/*.md', { exclude: (path) => path.includes('docs/api') }),
  highlightLanguages: [
    ...OptionDefaults.highlightLanguages,
    'markdown',
    'sql',
    'dockerfile',
    'ini',
  ],
  treatWarningsAsErrors: true,
  validation: { notDocumented: true, invalidLink: true, notExported: true },
}
