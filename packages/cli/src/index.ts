/**
 * The command line `sluice`, as functions: `runCli` runs one command with its arguments on a `Terminal`,
 * and returns an exit code. The commands inspect and operate queues of any store, migrate schemas, move
 * queues between stores, and serve the dashboard. Each command is a file in `src/commands`.
 *
 * @packageDocumentation
 */

export { type ExitCode, exitCodes } from './exit-codes.ts'
export { runCli } from './run-cli.ts'
export { Interrupted, type Terminal, type TerminalInput, type TerminalOutput } from './terminal.ts'
