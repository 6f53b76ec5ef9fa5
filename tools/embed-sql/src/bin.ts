#!/usr/bin/env node
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { embeddedSql, generatedFile } from './embed-sql.ts'

const folder = process.cwd()
writeFileSync(join(folder, generatedFile), embeddedSql(folder))
