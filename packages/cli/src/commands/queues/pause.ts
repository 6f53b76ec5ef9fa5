import type { CommandSpec } from '../../command.ts'
import { queueCommand } from './queue-command.ts'

export const pause: CommandSpec = queueCommand({
  name: 'pause',
  summary: 'Stop handing out keys of queues, in all processes',
  details: 'Adds are taken, and keys that are held go on.',
  past: 'paused',
  act: (inspect) => inspect.pause(),
})
