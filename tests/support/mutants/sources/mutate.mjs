// Loaded before a program: changes source files while they are read.
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { edited, edits } from './edited.ts'

if (edits.length > 0) {
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context)
      if (!url.startsWith('file:')) return loaded
      const source = edited(fileURLToPath(url), String(loaded.source))
      return source === undefined ? loaded : { ...loaded, source }
    },
  })
}
