// The public interface of the kit that runs JavaScript programs. The Worker inside a program's process
// (`scripts/programs`) is the other end of `hostedPrograms`: it is loaded file by file, and so uses `own-isolate.ts`
// and `wire.ts` directly.

// Where a program runs: in an isolate of this process, or in a separate process.
export { hostedPrograms } from './hosted.ts'
// The tokens of a JavaScript text, for code that classifies a program without running it.
export { type Token, tokensOf } from './lexer.ts'
// `node` of the shell.
export { nodeCommands } from './node-commands.ts'
export { ownIsolates } from './own-isolate.ts'
export type { ProgramPort } from './program-port.ts'
