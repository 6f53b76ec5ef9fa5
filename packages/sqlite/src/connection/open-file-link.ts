import { readdirSync, readlinkSync } from 'node:fs'

/** Where Linux shows the files that this process has open, as links to them. */
const folder = '/proc/self/fd'

/** Where a link leads; `undefined` if it is gone. The target of a removed file has another name. */
export function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link)
  } catch {
    return undefined
  }
}

/**
 * The link to a file that this process has open. `undefined` if it has it open several times, of which
 * one may be closed and its link given to another file; and on systems without such links.
 */
export function linkToOpenFile(path: string): string | undefined {
  try {
    const links = readdirSync(folder).map((name) => `${folder}/${name}`)
    const [link, ...others] = links.filter((each) => targetOf(each) === path)
    return others.length === 0 ? link : undefined
  } catch {
    return undefined
  }
}
