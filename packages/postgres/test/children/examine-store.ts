/** A program that does nothing but examine a store, as an operator's script does. */
import process from 'node:process'
import { doctor } from '@sluice/postgres'

const [, , connectionString = '', schema = ''] = process.argv

for (const { check, level } of await doctor({ connectionString, schema })) console.log(check, level)
