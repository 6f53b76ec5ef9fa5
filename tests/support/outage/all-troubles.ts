import { startPostgres } from '@sluice/test-postgres'
import pg from 'pg'
import { type OutageReport, outage } from './outage.ts'
import { canMount, fullDisk, goneFile, lockedFile, postgresTrouble } from './troubles.ts'

const modes = ['refuse', 'silent', 'half-open', 'cut'] as const

/** Brings every kind of store into every kind of trouble at the same time, each with a process. */
export async function allTroubles(ms: number): Promise<OutageReport[]> {
  const server = await startPostgres({ settings: ['max_connections=300'] })
  try {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    const troubles = [goneFile(), lockedFile(), ...(canMount ? [fullDisk()] : [])]
    for (const mode of modes) {
      const database = `outage_${mode.replace('-', '_')}`
      await client.query(`create database ${database}`)
      const url = new URL(server.url)
      url.pathname = `/${database}`
      troubles.push(await postgresTrouble(url.href, mode))
    }
    await client.end()
    const reach = async (): Promise<void> => {
      const fresh = new pg.Client({ connectionString: server.url })
      await fresh.connect()
      await fresh.query('select 1')
      await fresh.end()
    }
    return await Promise.all(troubles.map((trouble) => outage(trouble, ms, reach)))
  } finally {
    await server.dispose()
  }
}
