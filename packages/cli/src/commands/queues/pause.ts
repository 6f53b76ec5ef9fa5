import type { CommandSpec } from '../../command.ts'
import { queueCommand } from './queue-command.ts'

export const pause: CommandSpec = queueCommand({
  name: 'pause',
  summary: 'Stop handing out keys of queues, in all processes',
  details: 'New adds are accepted, and running keys finish.',
  past: 'paused',
  act: (inspect) => inspect.pause(),
})
