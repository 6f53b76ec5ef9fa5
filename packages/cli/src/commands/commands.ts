import type { CommandSpec } from '../command.ts'
import { add } from './add.ts'
import { addAfter } from './add-after.ts'
import { bench } from './bench.ts'
import { complete } from './complete.ts'
import { completion } from './completion.ts'
import { conformance } from './conformance.ts'
import { copy } from './copy.ts'
import { dashboard } from './dashboard.ts'
import { doctor } from './doctor.ts'
import { drain } from './drain.ts'
import { explain } from './explain.ts'
import { exportLines } from './export.ts'
import { forget } from './forget.ts'
import { get } from './get.ts'
import { importLines } from './import.ts'
import { ls } from './ls.ts'
import { migrate } from './migrate.ts'
import { move } from './move.ts'
import { park } from './park.ts'
import { pause } from './pause.ts'
import { purge } from './purge.ts'
import { queues } from './queues.ts'
import { remove } from './remove.ts'
import { resume } from './resume.ts'
import { runNow } from './run-now.ts'
import { top } from './top.ts'
import { unpark } from './unpark.ts'
import { workers } from './workers.ts'

/** Every command, in the order in which help shows them. */
export const commands: readonly CommandSpec[] = [
  queues,
  ls,
  get,
  explain,
  workers,
  top,
  dashboard,
  add,
  addAfter,
  runNow,
  forget,
  park,
  unpark,
  remove,
  pause,
  resume,
  drain,
  purge,
  migrate,
  copy,
  move,
  exportLines,
  importLines,
  doctor,
  bench,
  conformance,
  completion,
  complete,
]
