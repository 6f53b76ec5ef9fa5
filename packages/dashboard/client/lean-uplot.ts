import type { Plugin } from 'vite'

/** What uPlot hangs on itself for others to use; we draw lines and use none of it. */
const extras = /\nuPlot\.assign = assign;[\s\S]*?(?=\nexport \{ uPlot as default \};)/

/**
 * Leaves the extras of uPlot out of the page: they are a third of it, and no bundler can tell that
 * nobody wants them. Where uPlot is not as it was, nothing is left out, and the test of the size of
 * the page says so.
 */
export function leanUplot(): Plugin {
  return {
    name: 'lean-uplot',
    transform(code, id) {
      if (!/uPlot\.esm\.js/.test(id)) return undefined
      return {
        code: code
          .replace(extras, '')
          .replace('const showLegend = legend.show;', 'const showLegend = false;'),
        map: null,
      }
    },
  }
}
