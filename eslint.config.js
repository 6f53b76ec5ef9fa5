// Biome formats and lints. These two rules are ESLint's only job, because they need the types of
// other packages: Biome's own versions miss a call on an imported class, a parameter or a private
// field, which are most calls here. tools/lint/test proves both halves of that sentence.
import tseslint from 'typescript-eslint'

const inBrowsers = [
  'apps/demo/scripts/**/*.ts',
  'packages/dashboard/client/**/*.{ts,tsx}',
  'packages/dashboard/test/browser/**/*.ts',
  'packages/dashboard/test/**/*.browser.test.ts',
]

const promises = {
  plugins: { '@typescript-eslint': tseslint.plugin },
  linterOptions: { reportUnusedDisableDirectives: 'error' },
  rules: {
    '@typescript-eslint/no-floating-promises': 'error',
    '@typescript-eslint/no-misused-promises': 'error',
  },
}

const checkedBy = (project) => ({
  parser: tseslint.parser,
  parserOptions: { project, tsconfigRootDir: import.meta.dirname },
})

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      '**/.cache/**',
      '.tools/**',
      'tools/lint/fixture/**',
      // Installed for a benchmark, or copied from, only; the check of the types leaves them out too.
      'benchmarks/src/*/**',
      'compat/**',
      'templates/**',
      'docs/api/**',
    ],
  },
  {
    files: ['**/*.ts'],
    ignores: inBrowsers,
    ...promises,
    languageOptions: checkedBy('./tsconfig.check.json'),
  },
  {
    files: inBrowsers,
    ...promises,
    languageOptions: checkedBy('./packages/dashboard/client/tsconfig.json'),
  },
)
