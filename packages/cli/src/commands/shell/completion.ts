// This folder is the commands that a shell uses to complete a command line.

import { basename } from 'node:path'
import type { CommandSpec } from '../../command.ts'
import { usageError } from '../../command-error.ts'
import { scriptFor, shells } from '../../completion/scripts.ts'
import { oneLine } from '../../output/escape.ts'

export const completion: CommandSpec = {
  name: 'completion',
  summary: 'Print a completion script for a shell',
  details:
    'Completes commands, options and their values, and queues and keys from the store, which may take up to 2s or $SLUICE_COMPLETION_TIMEOUT.',
  group: 'More',
  positionals: [
    {
      name: 'SHELL',
      summary: 'the shell (default: that of $SHELL)',
      kind: 'text',
      choices: shells,
      optional: true,
    },
  ],
  examples: [
    { line: 'source <(sluice completion bash)', does: 'bash, in ~/.bashrc' },
    { line: 'source <(sluice completion zsh)', does: 'zsh, in ~/.zshrc after compinit' },
    { line: 'sluice completion fish | source', does: 'fish, in config.fish' },
  ],
  async run({ input, print, terminal }) {
    const { SHELL: path = '' } = terminal.env
    const wanted = input.positional(0) ?? basename(path)
    const shell = shells.find((one) => one === wanted)
    if (shell === undefined) {
      const found = path === '' ? '$SHELL is not set' : `$SHELL is ${oneLine(path)}`
      throw usageError(`name a shell, which is one of ${shells.join(', ')}: ${found}`)
    }
    await print.data(scriptFor(shell))
  },
}
