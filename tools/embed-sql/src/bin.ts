#!/usr/bin/env node
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { embeddedLua, generatedLuaFile, hasLua } from './embed-lua.ts'
import { embeddedSql, generatedFile } from './embed-sql.ts'

const folder = process.cwd()
if (hasLua(folder)) writeFileSync(join(folder, generatedLuaFile), embeddedLua(folder))
else writeFileSync(join(folder, generatedFile), embeddedSql(folder))
