// One script of ours as it runs, in all the shells that it takes. The library hands its "coverage writer" to each of their
// interpreters, and that is what this is: so every step finds the watch it belongs to.

import type { CreationMask } from '../creation-mask.ts'
import type { Pacer } from '../shell-pacer.ts'
import type { StoppedOutput } from '../stopped-output.ts'
import type { Interpreter, Script } from './shape.ts'

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

/** How the next shell begins: whether it writes to the terminal, and with which options, each the words of a command. */
type Beginning = { isLive: boolean; options: readonly (readonly string[])[]; isOfWords: boolean }

const PLAIN: Beginning = { isLive: false, options: [], isOfWords: false }

export class ScriptWatch {
  readonly parts: WatchParts
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

  nextShellHas(options: Beginning['options'], isOfWords: boolean): void {
    this.#next = { ...this.#next, options, isOfWords }
  }

  /** There will be none. */
  forgetNextShell(): void {
    this.#next = PLAIN
  }

  /** Asked once by each shell when it begins. */
  begin(): Beginning & { isScript: boolean } {
    const isScript = !this.#isScriptStarted
    const next = this.#next
    this.#isScriptStarted = true
    this.#next = PLAIN
    return { ...next, isScript, isLive: isScript || next.isLive, isOfWords: isScript || next.isOfWords }
  }
}
