export { type ExitCode, exitCodes } from './exit-codes.ts'
export { runCli } from './run-cli.ts'
export { Interrupted, type Terminal, type TerminalInput, type TerminalOutput } from './terminal.ts'
