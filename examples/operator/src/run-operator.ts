/**
 * `node src/run-operator.ts FILE`: the operator, with its queue in a SQLite file. Several processes on one file
 * are all active; a key that a killed process held runs in another one when its lease has ended.
 */
import process from 'node:process'
import { KubeConfig } from '@kubernetes/client-node'
import { sqliteDriver } from '@sluice/sqlite'
import { createRateLimitingQueue, stopOnSignals } from 'sluice'
import { startOperator } from './operator.ts'

const [, , file = 'operator.db', leaseMs = '30000'] = process.argv

const config = new KubeConfig()
config.loadFromDefault()
const queue = createRateLimitingQueue<string>({
  name: 'sizes',
  driver: sqliteDriver({ file }),
  leaseMs: Number(leaseMs),
})
stopOnSignals([await startOperator(config, queue), queue])
