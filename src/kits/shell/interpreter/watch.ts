// One script of ours as it runs, in all the shells that it takes. The library hands its "coverage writer" to each of their
// interpreters, and that is what this is: so every step finds the watch it belongs to.

import type { CreationMask } from '../creation-mask.ts'
import type { Pacer } from '../shell-pacer.ts'
import type { StoppedOutput } from '../stopped-output.ts'
import type { OutputRoutes } from './output-routes.ts'
import type { FunctionDefinition, Interpreter, Script } from './shape.ts'
import { Unwritten } from './unwritten.ts'

export interface WatchParts {
  pacer: Pacer
  /** What new files are denied. */
  mask: CreationMask
  /** What a terminal would show, in its order. */
  show: (text: string) => void
  stopped: StoppedOutput
  /** How the script called the file at the path. */
  wordsFor: (path: string) => string
  /** A part of a script as it would be written. */
  textOf: (script: Script) => string
  parse: (text: string) => Script
  /** A statement of the script itself has ended. */
  onStatement: (shell: Interpreter) => void
}

/** What a shell is told by the command that starts it. */
export interface ShellStart {
  /** Each the words of a command. */
  options: readonly (readonly string[])[]
  /** The words of `-c`. */
  text: string | null
  /** By the word that named it. */
  file: string | null
  /** It reads its script from its standard input, command by command. */
  isInput: boolean
  /** What is to be said behind the script: what follows in its text is none. */
  error?: string | null
}

/** How the next shell begins, and whether it writes to the terminal. */
type Beginning = ShellStart & { isLive: boolean }

const PLAIN: Beginning = { isLive: false, options: [], text: null, file: null, isInput: false }

export class ScriptWatch {
  readonly parts: WatchParts
  readonly unwritten = new Unwritten()
  /** Functions that a shell of this run has exported, by the variables in which they are passed on. */
  readonly passedFunctions = new Map<string, FunctionDefinition>()
  /** How much the shell that ended last had read of the input that it was given; null for one without. */
  inputTaken: number | null = null
  /**
   * Where the command that runs writes, for a shell that it starts: as its own output, or for the command to hand on; and
   * whether that is there should the shell be stopped.
   */
  inherited: { routes: OutputRoutes; isDirect: boolean; isKept: boolean } | null = null
  /** Whether the command that is called reads a file as its input. */
  inputIsFile = false
  /** How many shells have begun: a text that does not parse begins none. */
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

  /** There will be none. */
  forgetNextShell(): void {
    this.#next = PLAIN
  }

  /** Asked once by each shell when it begins. */
  begin(): Beginning & { isScript: boolean; isOfWords: boolean } {
    const isScript = !this.#isScriptStarted
    const next = this.#next
    this.begun++
    this.#isScriptStarted = true
    this.#next = PLAIN
    return { ...next, isScript, isLive: isScript || next.isLive, isOfWords: isScript || next.text !== null }
  }
}
