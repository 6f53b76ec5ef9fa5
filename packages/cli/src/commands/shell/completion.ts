import type { CommandSpec } from '../../command.ts'
import { scriptFor, shells } from '../../completion/scripts.ts'

export const completion: CommandSpec = {
  name: 'completion',
  summary: 'Print a script with which a shell completes what you type',
  details:
    'It completes commands, options and their values, and asks the store for queues and keys, for 2s or as long as $SLUICE_COMPLETION_TIMEOUT says.',
  group: 'More',
  positionals: [{ name: 'SHELL', summary: 'the shell', kind: 'text', choices: shells }],
  examples: [
    { line: 'source <(sluice completion bash)', does: 'bash; put it into ~/.bashrc' },
    { line: 'source <(sluice completion zsh)', does: 'zsh, after compinit; put it into ~/.zshrc' },
    { line: 'sluice completion fish | source', does: 'fish; put it into config.fish' },
  ],
  async run({ input, print }) {
    await print.data(scriptFor(input.positional(0) ?? ''))
    return undefined
  },
}
