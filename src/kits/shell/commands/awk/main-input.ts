// The records of the files on the command line, or of the standard input without any. Operands that are assignments
// take effect when they are reached.

import { shellMessage } from '../../interpreter-command.ts'
import type { RegexCache } from '../../posix-regex/posix-regex.ts'
import type { ShellCall } from '../../shell-extensions.ts'
import { readText } from '../text-files.ts'
import { unescapeString } from './lexer.ts'
import { RecordReader } from './reader.ts'
import { AwkError } from './syntax.ts'
import { Input, toNumber } from './values.ts'
import type { Variables } from './variables.ts'

interface Deps {
  call: ShellCall
  variables: Variables
  regexes: RegexCache
}

export class MainInput {
  readonly #deps: Deps
  #reader: RecordReader | null = null
  #next = 1
  #hasFile = false
  #hasEnded = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The next record of the open file; null if there is none, and `open` must be called. */
  read(): string | null {
    const { variables } = this.#deps
    const record = this.#reader?.read(variables.rs) ?? null
    if (record === null) return null
    variables.nr++
    variables.fnr++
    return record
  }

  /** Opens the next file; false if there is none. */
  async open(): Promise<boolean> {
    if (this.#hasEnded) return false
    const { variables, call, regexes } = this.#deps
    const name = this.#nextName()
    if (name === null) {
      this.#hasEnded = true
      this.#reader = null
      return false
    }
    this.#hasFile = true
    if (name !== '') variables.variable('FILENAME').set(name)
    variables.fnr = 0
    try {
      this.#reader = new RecordReader(await readText(call, name || '-'), regexes)
      return true
    } catch (error) {
      throw new AwkError(`cannot open ${name} (${shellMessage(error)})`)
    }
  }

  skipFile(): void {
    this.#reader = null
  }

  /** The current operands, because a program may change ARGV; '' for the standard input if there are none. */
  #nextName(): string | null {
    const { variables } = this.#deps
    const words = variables.array('ARGV')
    while (this.#next < toNumber(variables.variable('ARGC').get())) {
      const word = variables.text(words.get(String(this.#next++)))
      if (word === '') continue
      if (!assign(word, variables)) return word
    }
    return this.#hasFile ? null : ''
  }
}

/** Executes `name=value`; false if the word is not an assignment. */
export function assign(word: string, variables: Variables): boolean {
  const [all, name = ''] = /^([A-Za-z_]\w*)=/.exec(word) ?? []
  if (all === undefined) return false
  variables.variable(name).set(new Input(unescapeString(word.slice(all.length))))
  return true
}
