/** A driver with the given options, for a process that examines the driver from outside. */
import process from 'node:process'
import { serveDriver } from '@sluice/conformance/other-process'
import { type RedisOptions, redisDriver } from '@sluice/redis'

const [, , options = '{}'] = process.argv

serveDriver(redisDriver(JSON.parse(options) as RedisOptions), process)
