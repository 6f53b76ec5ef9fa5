import type { Scene } from './setups.ts'

/** The keys that the store of a scene has as held. */
export async function heldKeys(scene: Scene): Promise<string[]> {
  const { rows } = await scene.inner.list('q', { state: 'processing', limit: 1_000 })
  return rows.map(({ key }) => key)
}
