// The face of the shell kit.

// The commands of a shell beside the interpreter's own, and what a command is that somebody adds.
export { workspaceCommands } from './commands/all.ts'
// To read a script without running it: its syntax tree, and why one would be refused unread.
export type { Script } from './interpreter/shape.ts'
export { refusedScript } from './script-work.ts'
// To run a script over a file tree, and what lasts from one script to the next.
export { runScript, type ScriptOutcome, type ScriptRun } from './shell.ts'
export type { ShellCall, ShellCommand, ShellResult } from './shell-extensions.ts'
// The names of those that the interpreter has of ours.
export type { OwnCommand } from './shell-interpreter.ts'
export type { OutputFilter } from './shell-output.ts'
export { loadShellParser, type ParseShell } from './shell-parser.ts'
export type { ShellState } from './shell-state.ts'
