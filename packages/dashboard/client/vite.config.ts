import { defineConfig } from 'vite'
import { leanUplot } from './lean-uplot.ts'

export default defineConfig({
  root: import.meta.dirname,
  // Where the page will be mounted is not known: everything is relative to its own address.
  base: './',
  plugins: [leanUplot()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/client',
    emptyOutDir: true,
    // What has `light-dark()`, popovers and dialogs; nothing is rewritten for older ones.
    target: ['chrome123', 'firefox125', 'safari17.5'],
    // The policy of the page allows scripts and styles of its own server only.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
  },
})
