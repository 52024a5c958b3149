// What we know of the library's interpreter besides what it publishes: the steps in which it runs a script, and the state
// that it runs them on. `prototype.ts` makes sure that the steps are there.

import type { Bash, IFileSystem } from 'just-bash/browser'
import type { Result } from '../interpreter-command.ts'

type Plugin = Parameters<Bash['registerTransformPlugin']>[0]
export type Script = Parameters<Plugin['transform']>[0]['ast']
export type Statement = Script['statements'][number]
export type Pipeline = Statement['pipelines'][number]
export type Command = Pipeline['commands'][number]
export type SimpleCommand = Extract<Command, { type: 'SimpleCommand' }>
export type Redirection = SimpleCommand['redirections'][number]
export type Assignment = SimpleCommand['assignments'][number]
export type ArithmeticExpression = Extract<Command, { type: 'ArithmeticCommand' }>['expression']
export type FunctionDefinition = Extract<Command, { type: 'FunctionDef' }>
type Subshell = Extract<Command, { type: 'Subshell' }>

export type StepResult = Result

/** One interpreter runs one shell: the script itself, or one that a command runs. */
export interface Interpreter {
  ctx: {
    state: ShellVariables
    fs: IFileSystem
    limits: { maxArrayElements: number; maxStringLength: number }
    commands: ReadonlyMap<string, RegisteredCommand>
    executionScope: {
      appendOutput(stream: 'stdout' | 'stderr', text: string, site: string): number
      /** Throws for one too many. */
      chargeCommand(): number
      accountResult(result: StepResult, site: string): StepResult
    }
    coverage?: unknown
    /** A script of a command, or with two arguments that of a substitution within arithmetic. */
    execFn?: RunScript
  }
  executeScript(node: Script): Promise<StepResult>
  executeStatement(node: Statement): Promise<StepResult>
  executePipeline(node: Pipeline): Promise<StepResult>
  executeCommand(node: Command, stdin: string, ownsStdin?: boolean): Promise<StepResult>
  executeSubshell(node: Subshell, stdin?: string, ownsStdin?: boolean): Promise<StepResult>
  /** With the words expanded, and what redirects its input and output prepared. */
  runCommand(...call: CommandCall): Promise<StepResult>
  /** A file that is a script, in a shell of its own. */
  executeUserScript(path: string, args: string[], stdin?: string): Promise<StepResult>
  buildExportedEnv(): Record<string, string>
}

export type RunScript = (script: string, options: object, ownsStdin?: boolean) => StepResult | Promise<StepResult>

export type CommandCall = [
  name: string,
  args: string[],
  quoted: boolean[],
  stdin: string,
  skipFunctions?: boolean,
  ...rest: unknown[],
]

export interface ShellVariables {
  env: Map<string, string>
  arrays?: Map<string, ShellArray>
  associativeArrays?: Set<string>
  readonlyVars?: Set<string>
  exportedVars?: Set<string>
  lowercaseVars?: Set<string>
  uppercaseVars?: Set<string>
  integerVars?: Set<string>
  namerefs?: Set<string>
  /** Those that refer to nothing, whatever they hold. */
  invalidNamerefs?: Set<string>
  cwd: string
  /** What is left of the input of the compound command that runs, one character a byte. */
  groupStdin?: string
  /** The descriptor from 3 on which that input was taken from. */
  groupStdinSourceFd?: number
  /** Of those that are read from, what is left. */
  fileDescriptors?: Map<number, string>
  inputFds?: Set<number>
  /** Descriptors that share what is left, each with all of them. */
  fdAliases?: Map<number, Set<number>>
  closedStandardFds?: ReadonlySet<number>
  functions: Map<string, FunctionDefinition>
  lastExitCode: number
  lastArg: string
  inCondition: boolean
  callDepth: number
  commandCount?: number
  fullyUnsetLocals?: ReadonlySet<string> | ReadonlyMap<string, unknown>
  signal?: AbortSignal
  /** Further words for the next command. */
  extraArgs?: readonly string[]
  loopDepth: number
  parentHasLoopContext?: boolean
  callLineStack?: number[]
  funcNameStack?: string[]
  sourceStack?: string[]
  /** What a function that is defined now is said to come from. */
  currentSource?: string
  directoryStack?: readonly string[]
  /** The last failure was one of a list that goes on behind it, which does not count under `set -e`. */
  errexitSafe?: boolean
  options: Record<string, boolean>
  shoptOptions: {
    nocasematch: boolean
    xpg_echo: boolean
    expand_aliases: boolean
    nullglob: boolean
    failglob: boolean
    globstar: boolean
    dotglob: boolean
    extglob: boolean
    nocaseglob: boolean
  }
  currentLine: number
  /** In epoch milliseconds. */
  startTime: number
  bashPid: number
  virtualPid: number
  virtualPpid: number
  virtualUid: number
  virtualGid: number
  nextVirtualPid: number
  lastBackgroundPid: number
}

export interface ShellArray {
  kind: 'indexed' | 'associative'
  elements: Map<string, string>
}

export interface RegisteredCommand {
  execute(args: string[], context: object): Promise<Result>
  /** The library's own, where one of ours stands before it. */
  internalOriginalCommand?: RegisteredCommand
}
