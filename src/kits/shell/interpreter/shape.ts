// The parts of the library's interpreter that it does not publish: the steps in which it runs a script, and its state.
// `prototype.ts` checks that the steps exist.

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
      /** Throws if the limit is exceeded. */
      chargeCommand(): number
      accountResult(result: StepResult, site: string): StepResult
    }
    coverage?: unknown
    /** Runs a command's script, or with two arguments that of a substitution within arithmetic. */
    execFn?: RunScript
  }
  executeScript(node: Script): Promise<StepResult>
  executeStatement(node: Statement): Promise<StepResult>
  executePipeline(node: Pipeline): Promise<StepResult>
  executeCommand(node: Command, stdin: string, ownsStdin?: boolean): Promise<StepResult>
  executeSubshell(node: Subshell, stdin?: string, ownsStdin?: boolean): Promise<StepResult>
  /** With expanded words, and with prepared redirections. */
  runCommand(...call: CommandCall): Promise<StepResult>
  /** A script file, in a separate shell. */
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
  /** References without a valid target. */
  invalidNamerefs?: Set<string>
  cwd: string
  /** The rest of the input of the running compound command, one character per byte. */
  groupStdin?: string
  /** The descriptor from 3 on from which that input came. */
  groupStdinSourceFd?: number
  /** For input descriptors, the rest of their input. */
  fileDescriptors?: Map<number, string>
  inputFds?: Set<number>
  /** Descriptors that share the rest, each with all of them. */
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
  /** Additional arguments for the next command. */
  extraArgs?: readonly string[]
  loopDepth: number
  parentHasLoopContext?: boolean
  callLineStack?: number[]
  funcNameStack?: string[]
  sourceStack?: string[]
  /** The source of a function that is defined now. */
  currentSource?: string
  directoryStack?: readonly string[]
  /** The last failure was in a list that continues after it, so it is ignored by `set -e`. */
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
  /** The library's own command, if it is replaced by one of ours. */
  internalOriginalCommand?: RegisteredCommand
}
