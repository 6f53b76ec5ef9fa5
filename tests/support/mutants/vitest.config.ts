import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import suite from '../../../vitest.config.ts'
import { edited } from './edited.ts'

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
