// The public interface of the shell kit.

// The additional commands of the shell, and the type of an added command.
export { workspaceCommands } from './commands/all.ts'
// Parses a script without running it: its syntax tree, and why it would be refused.
export type { Script } from './interpreter/shape.ts'
export { refusedScript } from './script-work.ts'
// Runs a script on a file tree, with the state that is kept between scripts.
export { runScript, type ScriptOutcome, type ScriptRun } from './shell.ts'
export type { ShellCall, ShellCommand, ShellResult } from './shell-extensions.ts'
// The names of the commands that are added to the interpreter.
export type { OwnCommand } from './shell-interpreter.ts'
export type { OutputFilter } from './shell-output.ts'
export { loadShellParser, type ParseShell } from './shell-parser.ts'
export type { ShellState } from './shell-state.ts'
