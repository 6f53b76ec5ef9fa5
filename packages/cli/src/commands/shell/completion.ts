import type { CommandSpec } from '../../command.ts'
import { scriptFor, shells } from '../../completion/scripts.ts'

export const completion: CommandSpec = {
  name: 'completion',
  summary: 'Print a completion script for a shell',
  details:
    'Completes commands, options and their values, and queues and keys from the store, which may take up to 2s or $SLUICE_COMPLETION_TIMEOUT.',
  group: 'More',
  positionals: [{ name: 'SHELL', summary: 'the shell', kind: 'text', choices: shells }],
  examples: [
    { line: 'source <(sluice completion bash)', does: 'bash, in ~/.bashrc' },
    { line: 'source <(sluice completion zsh)', does: 'zsh, in ~/.zshrc after compinit' },
    { line: 'sluice completion fish | source', does: 'fish, in config.fish' },
  ],
  async run({ input, print }) {
    await print.data(scriptFor(input.positional(0) ?? ''))
    return undefined
  },
}
