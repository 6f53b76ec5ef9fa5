import { statfsSync } from 'node:fs'
import { platform } from 'node:os'

// statfs(2), "type". These do not provide memory shared between processes and reliable locks, which
// the write-ahead log needs.
const names: Readonly<Record<number, string>> = {
  26985: 'nfs',
  20859: 'smb',
  4283649346: 'cifs',
  4266872130: 'smb2',
  16914839: '9p',
  1702057286: 'fuse or virtiofs',
  12805120: 'ceph',
  1397113167: 'afs',
  1937076805: 'coda',
  198183888: 'lustre',
  1952539503: 'ocfs2',
  2020557398: 'vboxsf',
  22092: 'ncp',
}

/** The name of a type of file system that files cannot be shared on. */
export function networkName(type: number): string | undefined {
  // Numbers with the highest bit set come out negative.
  return names[type >>> 0]
}

/** The name of the file system of `directory` if it is a network file system, or like one. */
export function networkFilesystemOf(directory: string): string | undefined {
  // On other systems the numbers mean something else.
  if (platform() !== 'linux') return undefined
  return networkName(statfsSync(directory).type)
}
