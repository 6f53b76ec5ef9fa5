import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getuid } from 'node:process'
import { DatabaseSync } from 'node:sqlite'
import { needs } from '@sluice/needs'
import { type ProxyMode, StoreProxy } from '@sluice/needs/store-proxy'

/** A store, and a way to bring it into one kind of trouble and out of it. */
export interface Trouble {
  readonly name: string
  readonly address: string
  begin(): Promise<void>
  end(): Promise<void>
  dispose(): Promise<void>
}

/** Postgres behind a proxy, in a database of its own. */
export async function postgresTrouble(url: string, mode: ProxyMode): Promise<Trouble> {
  const address = new URL(url)
  const proxy = await StoreProxy.start(Number(address.port))
  address.port = String(proxy.port)
  return {
    name: `Postgres, ${mode}`,
    address: address.href,
    begin: () => proxy.become(mode),
    end: () => proxy.become('pass'),
    dispose: () => proxy.stop(),
  }
}

const files = ['queue.db', 'queue.db-wal', 'queue.db-shm']

/** SQLite whose file is moved away, and later moved back. */
export function goneFile(): Trouble {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-gone-'))
  const away = join(folder, 'away')
  mkdirSync(away)
  return {
    name: 'SQLite, file gone',
    address: join(folder, 'queue.db'),
    async begin() {
      for (const file of files) renameSync(join(folder, file), join(away, file))
    },
    async end() {
      for (const file of files) renameSync(join(away, file), join(folder, file))
    },
    async dispose() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** SQLite whose file another process has locked. */
export function lockedFile(): Trouble {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-locked-'))
  const address = join(folder, 'queue.db')
  let holder: DatabaseSync | undefined
  return {
    name: 'SQLite, locked',
    address,
    async begin() {
      holder = new DatabaseSync(address)
      // Only ends what hangs: the process may be held up while it writes.
      holder.exec('pragma busy_timeout = 60000; begin immediate')
    },
    async end() {
      holder?.exec('rollback')
    },
    async dispose() {
      holder?.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Whether file systems can be mounted here. */
export const canMount = needs(
  'leave to mount a file system',
  getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0,
)

/** SQLite on a disk that is full. */
export function fullDisk(): Trouble {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-full-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', folder])
  const ballast = join(folder, 'ballast')
  const address = join(folder, 'queue.db')
  let reader: DatabaseSync | undefined
  return {
    name: 'SQLite, disk full',
    address,
    async begin() {
      // While a transaction reads, the log is not used again from its start: it has no room left for writes.
      reader = new DatabaseSync(address)
      reader.exec('begin')
      reader.prepare('select count(*) from sqlite_schema').get()
      const file = openSync(ballast, 'w')
      try {
        for (const size of [65_536, 512]) {
          try {
            for (;;) writeSync(file, Buffer.alloc(size))
          } catch {
            // Full, by steps of this size.
          }
        }
      } finally {
        closeSync(file)
      }
    },
    async end() {
      rmSync(ballast)
      reader?.close()
      reader = undefined
    },
    async dispose() {
      reader?.close()
      execFileSync('umount', ['--lazy', folder])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
