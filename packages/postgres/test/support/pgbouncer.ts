import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { freePort, onFreePorts } from '@sluice/needs/free-port'
import type { TestServer } from './server.ts'

const places = ['/usr/sbin/pgbouncer', '/usr/local/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer']

/** Where pgbouncer is; Debian has a package of that name. */
export const pgbouncerPath: string | undefined = places.find((place) => existsSync(place))

/**
 * Where there is the `setpriv` of util-linux, the system kills the pooler together with the process that
 * started it, however that one ends. It must change the user then: a change of the user by pgbouncer takes that back.
 */
const hasSetpriv =
  spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore' }).status === 0

function commandOf(settings: string): string[] {
  const asRoot = userInfo().uid === 0
  const program = pgbouncerPath ?? ''
  if (!hasSetpriv) return [program, ...(asRoot ? ['-u', 'postgres'] : []), settings]
  const user = asRoot ? ['--reuid', 'postgres', '--regid', 'postgres', '--init-groups'] : []
  return ['setpriv', ...user, '--pdeathsig', 'KILL', program, settings]
}

/** A pooler in front of a server. */
export interface Pooler {
  readonly url: string
  stop(): Promise<void>
}

/** Starts pgbouncer. */
export async function startPooler(
  server: TestServer,
  mode: 'transaction' | 'session' = 'transaction',
  size = 4,
): Promise<Pooler> {
  return await onFreePorts(async () => startOn(await freePort(), server, mode, size))
}

async function startOn(
  port: number,
  server: TestServer,
  mode: string,
  size: number,
): Promise<Pooler> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pgbouncer-'))
  chmodSync(folder, 0o755)
  const users = join(folder, 'users.txt')
  const url = new URL(server.url)
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(
    decodeURIComponent,
  )
  writeFileSync(users, `"${user}" "${password}"\n`)
  const settings = join(folder, 'pgbouncer.ini')
  writeFileSync(
    settings,
    `[databases]
${database} = host=127.0.0.1 port=${server.port} user=${user} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = ${size}
max_client_conn = 100
`,
  )
  const [command = '', ...args] = commandOf(settings)
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const gone = new Promise((resolve) => child.once('exit', resolve))
  await started(child).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true })
    throw error
  })
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return {
    url: url.href,
    async stop() {
      child.kill('SIGKILL')
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (said.includes('process up')) resolve()
    })
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`pgbouncer did not start: ${said}`)))
  })
}
