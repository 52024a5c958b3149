// The current line, and the commands that change, store or print it.

import type { ShellCall } from '../../shell-extensions.ts'
import type { CommandOutput } from '../text-files.ts'
import { SedInput } from './input.ts'
import { escapedLine } from './listing.ts'
import type { Settings } from './options.ts'
import type { LineWriter, WrittenFiles } from './output.ts'
import type { Script } from './parser.ts'
import type { Action, Command } from './script.ts'

/** The hold space, and whether its line ended with a separator. */
interface Memory {
  hold: string
  hasEnd: boolean
}

export interface RunnerParts {
  call: ShellCall
  output: CommandOutput
  settings: Settings
  script: Script
  separator: string
  files: readonly string[]
  /** The destination of lines. */
  target: LineWriter
  written: WrittenFiles
  /** The state that is kept between edited files. */
  memory?: Memory
}

/**
 * The continuation after a command: the next command, the end of the cycle with or without printing, a new cycle with
 * the rest, or the end.
 */
export type Flow = 'on' | 'end' | 'drop' | 'again' | 'quit'

export class Editing {
  readonly memory: Memory
  problemCode = 0
  protected readonly parts: RunnerParts
  protected readonly input: SedInput
  protected space = ''
  protected hasEnd = true
  protected flow: Flow = 'on'
  protected exitCode: number | null = null
  /** After `Q`. */
  protected isSilentEnd = false

  constructor(parts: RunnerParts) {
    this.parts = parts
    this.memory = parts.memory ?? { hold: '', hasEnd: true }
    const { settings, separator, files, script } = parts
    this.input = new SedInput(parts.call, {
      files,
      separator,
      isSeparate: settings.isSeparate,
      report: (message, exitCode) => {
        parts.output.addError(`sed: ${message}\n`)
        this.problemCode = exitCode
      },
      onFile: () => resetRanges(script.commands),
    })
  }

  get number(): number {
    return this.input.lineNumber
  }

  get isLast(): boolean {
    return this.input.isLast
  }

  /** Actions that only change or print the spaces. */
  protected edit(action: Action): void {
    const { separator } = this.parts
    switch (action.kind) {
      case 'd':
        this.flow = 'drop'
        break
      case 'D':
        this.#dropFirst()
        break
      case 'g':
        this.space = this.memory.hold
        this.hasEnd = this.memory.hasEnd
        break
      case 'G':
        this.space += separator + this.memory.hold
        this.hasEnd ||= this.memory.hasEnd
        break
      case 'h':
        this.memory.hold = this.space
        this.memory.hasEnd = this.hasEnd
        break
      case 'H':
        this.memory.hold += separator + this.space
        break
      case 'x':
        ;[this.space, this.memory.hold] = [this.memory.hold, this.space]
        ;[this.hasEnd, this.memory.hasEnd] = [this.memory.hasEnd, this.hasEnd]
        break
      case 'y':
        this.space = Array.from(this.space, (char) => action.map.get(char) ?? char).join('')
        break
      case 'z':
        this.space = ''
        break
      default:
        this.#report(action)
    }
  }

  #dropFirst(): void {
    const end = this.space.indexOf(this.parts.separator)
    this.flow = end < 0 ? 'drop' : 'again'
    this.space = this.space.slice(end + 1)
  }

  #report(action: Action): void {
    const { target, written, settings } = this.parts
    switch (action.kind) {
      case '=':
        target.raw(`${this.number}\n`)
        break
      case 'F':
        target.raw(`${this.input.file}\n`)
        break
      case 'i':
        target.raw(action.text)
        break
      case 'l':
        target.raw(escapedLine(this.space, action.width ?? settings.width))
        break
      case 'p':
        this.show(this.space)
        break
      case 'P':
        target.line(this.#first())
        break
      case 'w':
        written.write(action.file, this.space, this.hasEnd)
        break
      case 'W':
        written.write(action.file, this.#first(), true)
        break
      case 'q':
      case 'Q':
        this.exitCode = action.exitCode
        this.isSilentEnd = action.kind === 'Q'
        this.flow = 'quit'
        break
      default:
    }
  }

  #first(): string {
    const end = this.space.indexOf(this.parts.separator)
    return end < 0 ? this.space : this.space.slice(0, end)
  }

  protected show(text: string): void {
    this.parts.target.line(text, this.hasEnd)
  }
}

function resetRanges(commands: readonly Command[]): void {
  for (const { selection } of commands) {
    const isZero = selection.from?.kind === 'line' && selection.from.line === 0
    selection.range.state = isZero ? 'inside' : 'before'
  }
}
