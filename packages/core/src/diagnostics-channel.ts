/** The module of Node that events are published with. */
type Channels = typeof import('node:diagnostics_channel')

/**
 * `node:diagnostics_channel`, where the runtime has it. Asked for when the module loads: a static
 * import of a module of Node keeps bundlers from building for a browser.
 */
export function diagnosticsChannel(): Channels | undefined {
  // As a free name, some bundlers for browsers would bring a substitute for it.
  const { process } = globalThis as Partial<typeof globalThis>
  return process?.getBuiltinModule?.('node:diagnostics_channel')
}
