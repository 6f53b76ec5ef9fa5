/** The module of Node that events are published with. */
type Channels = typeof import('node:diagnostics_channel')

/**
 * `node:diagnostics_channel`, where the runtime has it. Asked for when the module loads: a static
 * import of a module of Node keeps bundlers from building for a browser.
 */
export function diagnosticsChannel(): Channels | undefined {
  if (typeof process === 'undefined') return undefined
  return process.getBuiltinModule?.('node:diagnostics_channel')
}
