/** A driver on a schema, for a process that examines the driver from outside. */
import process from 'node:process'
import { serveDriver } from '@sluice/conformance/other-process'
import { postgresDriver } from '@sluice/postgres'

const [, , connectionString = '', schema = ''] = process.argv

serveDriver(postgresDriver({ connectionString, schema, onWarning() {} }), process)
