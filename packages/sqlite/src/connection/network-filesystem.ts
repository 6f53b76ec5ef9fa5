import { statfsSync } from 'node:fs'
import { platform } from 'node:os'

// statfs(2), "type". What a log in write-ahead mode needs, memory shared between processes and
// locks that hold, these do not give.
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
  // Some come out negative where the kernel's number has its highest bit set.
  return names[type >>> 0]
}

/** The name of the file system that `directory` is on if it is one of a network, or like one. */
export function networkFilesystemOf(directory: string): string | undefined {
  // Elsewhere the numbers mean something else.
  if (platform() !== 'linux') return undefined
  return networkName(statfsSync(directory).type)
}
