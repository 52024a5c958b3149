// The face of the kit that runs JavaScript programs. The Worker inside a program's process (`scripts/programs`) is the other
// end of `hostedPrograms`: it is loaded file by file, and so takes `own-isolate.ts` and `wire.ts` as they are.

// Where a program runs: in an isolate of this process, or in a process of its own.
export { hostedPrograms } from './hosted.ts'
// The words of a JavaScript text, for those who judge a program without running it.
export { type Token, tokensOf } from './lexer.ts'
// `node` of the shell.
export { nodeCommands } from './node-commands.ts'
export { ownIsolates } from './own-isolate.ts'
export type { ProgramPort } from './program-port.ts'
