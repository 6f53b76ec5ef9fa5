import { createHash } from 'node:crypto'
import { scriptTexts } from './scripts.generated.ts'

/** The names of the scripts, which are those of their files. */
export type ScriptName = keyof typeof scriptTexts

/** A script, and the hash by which the server knows it once it has seen it. */
export interface Script {
  readonly text: string
  readonly sha: string
}

/** All scripts. */
export const scripts: Readonly<Record<ScriptName, Script>> = Object.fromEntries(
  Object.entries(scriptTexts).map(([name, text]) => [
    name,
    { text, sha: createHash('sha1').update(text).digest('hex') },
  ]),
) as unknown as Record<ScriptName, Script>
