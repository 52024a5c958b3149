// The state of one running script, in all its shells. The library passes its "coverage writer" to each of their
// interpreters, and this object is used as one: so every step can find it.

import type { CreationMask } from '../creation-mask.ts'
import type { Pacer } from '../shell-pacer.ts'
import type { StoppedOutput } from '../stopped-output.ts'
import type { OutputRoutes } from './output-routes.ts'
import type { FunctionDefinition, Interpreter, Script } from './shape.ts'
import { Unwritten } from './unwritten.ts'

export interface WatchParts {
  pacer: Pacer
  /** The mask for new files. */
  mask: CreationMask
  /** The terminal's output, in order. */
  show: (text: string) => void
  stopped: StoppedOutput
  /** The script's spelling of the path. */
  wordsFor: (path: string) => string
  /** The source text of a part of a script. */
  textOf: (script: Script) => string
  parse: (text: string) => Script
  /** Called after each of the script's own statements. */
  onStatement: (shell: Interpreter) => void
}

/** The options of a shell from the command that starts it. */
export interface ShellStart {
  /** Each is the arguments of a command. */
  options: readonly (readonly string[])[]
  /** The argument of `-c`. */
  text: string | null
  /** In the given spelling. */
  file: string | null
  /** It reads its script from its standard input, command by command. */
  isInput: boolean
  /** The error to report after the script, if the rest of its text is invalid. */
  error?: string | null
}

/** The start of the next shell, and whether it writes to the terminal. */
type Beginning = ShellStart & { isLive: boolean }

const PLAIN: Beginning = { isLive: false, options: [], text: null, file: null, isInput: false }

export class ScriptWatch {
  readonly parts: WatchParts
  readonly unwritten = new Unwritten()
  /** Exported functions of this run, by their environment variables. */
  readonly passedFunctions = new Map<string, FunctionDefinition>()
  /** How much of its input the last shell had read; null for one without input. */
  inputTaken: number | null = null
  /**
   * The destination of the running command's output, for a shell that it starts: whether it is written directly or
   * passed on by the command, and whether it is preserved if the shell is stopped.
   */
  inherited: { routes: OutputRoutes; isDirect: boolean; isKept: boolean } | null = null
  /** Whether the called command's input is a file. */
  inputIsFile = false
  /** The number of started shells: an invalid text starts none. */
  begun = 0
  #isScriptStarted = false
  #next = PLAIN

  constructor(parts: WatchParts) {
    this.parts = parts
  }

  /** Called by the library several times for each command. */
  hit(): void {
    this.parts.pacer.hit()
  }

  nextShellIsLive(isLive: boolean): void {
    this.#next = { ...this.#next, isLive }
  }

  nextShellHas(start: ShellStart): void {
    this.#next = { ...this.#next, ...start }
  }

  /** No shell will start. */
  forgetNextShell(): void {
    this.#next = PLAIN
  }

  /** Called once by each shell at its start. */
  begin(): Beginning & { isScript: boolean; isOfWords: boolean } {
    const isScript = !this.#isScriptStarted
    const next = this.#next
    this.begun++
    this.#isScriptStarted = true
    this.#next = PLAIN
    return { ...next, isScript, isLive: isScript || next.isLive, isOfWords: isScript || next.text !== null }
  }
}
