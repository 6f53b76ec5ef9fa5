import {
  defineConfig,
  type TestProjectInlineConfiguration,
  type ViteUserConfig,
} from 'vitest/config'
import { edited } from './edited.ts'

// The configuration of the root, which is no package that could be imported by its name.
const root = new URL('vitest.config.ts', new URL('../../../../', import.meta.url))
const suite = ((await import(root.href)) as { readonly default: ViteUserConfig }).default

const mutation = {
  name: 'source-mutant',
  enforce: 'pre' as const,
  transform: (code: string, id: string) => edited(id.split('?')[0] ?? id, code),
}

const projects = (suite.test?.projects ?? []) as TestProjectInlineConfiguration[]

/** The whole suite, with the edits of a mutant in the sources that it loads. */
export default defineConfig({
  ...suite,
  test: {
    projects: projects.map((project) => ({
      ...project,
      plugins: [mutation],
      test: {
        ...project.test,
        fsModuleCache: false,
        testTimeout: 30_000,
        hookTimeout: 30_000,
        expect: { poll: { timeout: 15_000 } },
      },
    })),
    // What was edited for one mutant is not to be reused for the next.
    fsModuleCache: false,
    maxWorkers: 1,
  },
})
