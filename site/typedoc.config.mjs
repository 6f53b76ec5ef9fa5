// The reference as pages of the site: one for each entry point of each published package.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const published = readdirSync(new URL('../packages', import.meta.url))
  .map((name) => fileURLToPath(new URL(`../packages/${name}`, import.meta.url)))
  .filter((folder) => existsSync(`${folder}/src/index.ts`))
  .filter((folder) => JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')).private !== true)

/** @type {import('typedoc').TypeDocOptions & import('typedoc-plugin-markdown').PluginOptions} */
export default {
  name: 'Reference',
  entryPointStrategy: 'packages',
  entryPoints: published,
  packageOptions: {
    includeVersion: false,
    disableSources: true,
    excludePrivate: true,
    excludeInternal: true,
    readme: 'none',
  },
  readme: 'none',
  plugin: [fileURLToPath(import.meta.resolve('typedoc-plugin-markdown'))],
  outputs: [{ name: 'markdown', path: '.cache/pages/api' }],
  outputFileStrategy: 'members',
  entryFileName: 'index',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  validation: false,
  logLevel: 'Warn',
}
