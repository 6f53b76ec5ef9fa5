import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  // The mount path is not known at build time: all addresses are relative to the page.
  base: './',
  // The sources of the packages, so that the page can be built before they are.
  resolve: { conditions: ['sluice-source', 'module', 'browser', 'import', 'default'] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/client',
    emptyOutDir: true,
    // Browsers with `light-dark()`, popovers and dialogs; older ones are not supported.
    target: ['chrome123', 'firefox125', 'safari17.5'],
    // The content security policy allows only scripts and styles of the page's own server.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
  },
})
