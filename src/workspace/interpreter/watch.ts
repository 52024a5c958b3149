// One script of ours as it runs, in all the shells that it takes. The library hands its "coverage writer" to each of their
// interpreters, and that is what this is: so every step finds the watch it belongs to.

import type { Pacer } from '../shell-pacer.ts'
import type { Interpreter, Script } from './shape.ts'

export interface WatchParts {
  pacer: Pacer
  /** What a terminal would show, in its order. */
  show: (text: string) => void
  /** How the script called the file at the path. */
  wordsFor: (path: string) => string
  /** A part of a script as it would be written. */
  textOf: (script: Script) => string
  /** A statement of the script itself has ended. */
  onStatement: (shell: Interpreter) => void
}

/** How the next shell begins: whether it writes to the terminal, and with which options, each the words of a command. */
type Beginning = { isLive: boolean; options: readonly (readonly string[])[] }

const PLAIN: Beginning = { isLive: false, options: [] }

export class ScriptWatch {
  readonly parts: WatchParts
  #isScriptStarted = false
  #next = PLAIN

  constructor(parts: WatchParts) {
    this.parts = parts
  }

  /** Called by the library several times for each command and each step of awk. */
  hit(feature: string): void {
    this.parts.pacer.hit(feature)
  }

  nextShellIsLive(isLive: boolean): void {
    this.#next = { ...this.#next, isLive }
  }

  nextShellHas(options: Beginning['options']): void {
    this.#next = { ...this.#next, options }
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
    return { ...next, isScript, isLive: isScript || next.isLive }
  }
}
