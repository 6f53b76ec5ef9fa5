// This folder is the commands, one per file, in folders by what they work on.

import type { CommandSpec } from '../command.ts'
import { counts } from './inspect/counts.ts'
import { dashboard } from './inspect/dashboard.ts'
import { describe } from './inspect/describe.ts'
import { events } from './inspect/events.ts'
import { explain } from './inspect/explain.ts'
import { failures } from './inspect/failures.ts'
import { get } from './inspect/get.ts'
import { leases } from './inspect/leases.ts'
import { limiters } from './inspect/limiters.ts'
import { ls } from './inspect/ls.ts'
import { queues } from './inspect/queues.ts'
import { top } from './inspect/top.ts'
import { workers } from './inspect/workers.ts'
import { add } from './keys/add.ts'
import { addAfter } from './keys/add-after.ts'
import { forget } from './keys/forget.ts'
import { park } from './keys/park.ts'
import { release } from './keys/release.ts'
import { remove } from './keys/remove.ts'
import { runNow } from './keys/run-now.ts'
import { unpark } from './keys/unpark.ts'
import { pause } from './queues/pause.ts'
import { purge } from './queues/purge.ts'
import { resume } from './queues/resume.ts'
import { waitUntil } from './queues/wait-until.ts'
import { complete } from './shell/complete.ts'
import { completion } from './shell/completion.ts'
import { config } from './shell/config.ts'
import { bench } from './stores/bench.ts'
import { conformance } from './stores/conformance.ts'
import { copy } from './stores/copy.ts'
import { doctor } from './stores/doctor.ts'
import { exportLines } from './stores/export-lines.ts'
import { importLines } from './stores/import-lines.ts'
import { migrate } from './stores/migrate.ts'
import { move } from './stores/move.ts'
import { watch } from './stores/watch.ts'

/** Every command, in the order in which help shows them. */
export const commands: readonly CommandSpec[] = [
  queues,
  ls,
  get,
  explain,
  describe,
  counts,
  workers,
  leases,
  failures,
  events,
  limiters,
  top,
  dashboard,
  add,
  addAfter,
  runNow,
  forget,
  park,
  unpark,
  release,
  remove,
  pause,
  resume,
  waitUntil,
  purge,
  migrate,
  watch,
  copy,
  move,
  exportLines,
  importLines,
  doctor,
  bench,
  conformance,
  config,
  completion,
  complete,
]
