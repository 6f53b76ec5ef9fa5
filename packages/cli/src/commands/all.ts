import type { CommandSpec } from '../command.ts'
import { add } from './add.ts'
import { get } from './get.ts'
import { ls } from './ls.ts'
import { migrate } from './migrate.ts'
import { queues } from './queues.ts'

/** Every command, in the order in which help shows them. */
export const commands: readonly CommandSpec[] = [queues, ls, get, add, migrate]
