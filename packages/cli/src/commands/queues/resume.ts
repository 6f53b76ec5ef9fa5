import type { CommandSpec } from '../../command.ts'
import { queueCommand } from './queue-command.ts'

export const resume: CommandSpec = queueCommand({
  name: 'resume',
  summary: 'Hand out keys of paused queues again',
  details: 'Workers are notified at once.',
  past: 'resumed',
  act: (inspect) => inspect.resume(),
})
