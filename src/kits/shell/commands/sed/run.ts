// Runs a script: for each line all commands that apply to it, and at the end of the cycle the output.

import type { PosixRegex } from '../../posix-regex/posix-regex.ts'
import { textIn } from '../text-files.ts'
import { Appendix } from './appendix.ts'
import { Editing, type Flow, type RunnerParts } from './editing.ts'
import { replacementText } from './replacement.ts'
import { type Command, SedError, type Substitution } from './script.ts'
import { isSelected, type Line } from './selection.ts'

/** The number of commands between two checks for a pause. */
const COMMANDS_PER_PAUSE = 256

export class Runner extends Editing implements Line {
  readonly #appendix: Appendix
  #pc = 0
  #hasReplaced = false
  #lastRegex: PosixRegex | null = null
  #steps = 0

  constructor(parts: RunnerParts) {
    super(parts)
    this.#appendix = new Appendix(parts.call, parts.target)
  }

  /** If it is less than all of it. */
  get stdinTaken(): number | null {
    return this.flow === 'quit' ? this.input.stdinTaken : null
  }

  matches(regex: PosixRegex | null): boolean {
    return this.#regex(regex).test(this.space)
  }

  /** The exit code from the script, null at the end of the input. */
  async run(): Promise<{ exitCode: number | null }> {
    const { commands } = this.parts.script
    for (let flow = this.flow; flow !== 'quit'; flow = this.#flowSoFar()) {
      // Whether a line is the last must be known before a command needs it; this seldom has to be awaited.
      if (flow !== 'again') {
        const line = this.#read()
        const text = line instanceof Promise ? await line : line
        if (text === null) break
        this.space = text
        this.#hasReplaced = false
      }
      this.flow = 'on'
      for (this.#pc = 0; this.#flowSoFar() === 'on' && this.#pc < commands.length; ) {
        const wait = this.#next(commands[this.#pc++])
        if (wait) await wait
      }
      const wait = this.#endRound()
      if (wait) await wait
    }
    return { exitCode: this.exitCode }
  }

  /** The type checker does not know that commands change it. */
  #flowSoFar(): Flow {
    return this.flow
  }

  #endRound(): Promise<void> | null {
    const { settings, script, written } = this.parts
    const isShown = this.flow === 'on' || this.flow === 'end' || (this.flow === 'quit' && !this.isSilentEnd)
    if (isShown && !settings.isQuiet && !script.isQuiet) this.show(this.space)
    const wait = this.isSilentEnd ? null : this.#appendix.write()
    if (!written.isFull) return wait
    return (wait ?? Promise.resolve()).then(() => written.flush())
  }

  #next(command: Command | undefined): Promise<void> | null {
    if (!command) return null
    const pause = ++this.#steps % COMMANDS_PER_PAUSE === 0 ? this.parts.call.pause() : null
    return pause ? pause.then(() => this.#carryOut(command) ?? undefined) : this.#carryOut(command)
  }

  /** The next line; afterwards it is known whether it is the last. */
  #read(): Promise<string | null> | string | null {
    const before = this.input.prepare()
    if (before) return before.then(() => this.#read())
    const line = this.input.read()
    this.hasEnd = this.input.hasEnd
    const ahead = this.input.prepare()
    return ahead ? ahead.then(() => line) : line
  }

  #carryOut(command: Command): Promise<void> | null {
    const { action } = command
    if (!isSelected(command.selection, this)) {
      if (action.kind === '{') this.#pc = action.end
      return null
    }
    switch (action.kind) {
      case 's':
        return this.#substitute(action.substitution)
      case 'n':
      case 'N':
        return this.#more(action.kind)
      case 'e':
        return this.#execute(action.command)
      case 'c':
        if (command.selection.range.state !== 'inside' || command.selection.to === null)
          this.parts.target.raw(action.text)
        this.flow = 'drop'
        return null
      case 'b':
      case 't':
      case 'T':
        this.#branch(action.kind, action.at)
        return null
      case 'a':
        this.#appendix.add('a', action.text)
        return null
      case 'r':
      case 'R':
        this.#appendix.add(action.kind, action.file)
        return null
      default:
        this.edit(action)
        return null
    }
  }

  #branch(kind: 'b' | 't' | 'T', at: number): void {
    const isTaken = kind === 'b' || this.#hasReplaced === (kind === 't')
    if (kind !== 'b') this.#hasReplaced = false
    if (isTaken) this.#pc = at
  }

  /** At the end of the input both end the cycle, and the line is printed. */
  async #more(kind: 'n' | 'N'): Promise<void> {
    if (this.isLast) {
      this.flow = 'end'
      return
    }
    const { settings, script, separator } = this.parts
    if (kind === 'n' && !settings.isQuiet && !script.isQuiet) this.show(this.space)
    const wait = this.#appendix.write()
    if (wait) await wait
    const line = await this.#read()
    if (line === null) this.flow = 'end'
    else this.space = kind === 'n' ? line : this.space + separator + line
  }

  #regex(regex: PosixRegex | null): PosixRegex {
    const used = regex ?? this.#lastRegex
    if (!used) throw new SedError('-e expression #1, char 0: no previous regular expression')
    this.#lastRegex = used
    return used
  }

  #substitute({ regex, replacement, isGlobal, number, ...after }: Substitution): Promise<void> | null {
    const text = this.space
    const used = this.#regex(regex)
    let [result, copied, count] = ['', 0, 0]
    /** An empty match directly after a match is ignored. */
    let lastEnd = -1
    for (let at = 0; at <= text.length && used.find(text, at); ) {
      const [start = 0, end = 0] = used.slots
      const isEmpty = start === end
      if (!isEmpty || start !== lastEnd) count++
      if ((!isEmpty || start !== lastEnd) && count >= number) {
        result += text.slice(copied, start) + replacementText(replacement, text, used.slots)
        copied = end
        if (!isGlobal) break
      }
      lastEnd = end
      at = isEmpty ? end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1) : end
    }
    if (count < number) return null
    this.space = result + text.slice(copied)
    this.#hasReplaced = true
    return this.#afterwards(after)
  }

  #afterwards({ executes, prints, file }: Pick<Substitution, 'executes' | 'prints' | 'file'>): Promise<void> | null {
    const show = () => {
      if (prints) this.show(this.space)
      if (file !== null) this.parts.written.write(file, this.space, this.hasEnd)
    }
    if (executes) return this.#execute('').then(show)
    show()
    return null
  }

  /** Without a command, the line is executed and replaced by the output. */
  async #execute(command: string): Promise<void> {
    const { call, output, target } = this.parts
    const { stdoutBytes, stderr } = await call.execute(command === '' ? this.space : command, call.cwd)
    output.addError(stderr)
    const text = textIn(call, stdoutBytes)
    if (command !== '') target.raw(text)
    else this.space = text.endsWith('\n') ? text.slice(0, -1) : text
  }
}
