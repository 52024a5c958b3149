// Parses a sed script.

import type { RegexOptions } from '../../posix-regex/posix-regex.ts'
import { AddressParser, type ScriptOptions } from './addresses.ts'
import { charactersOf, replacementOf, textOf } from './replacement.ts'
import type { Action, Command, Substitution } from './script.ts'
import { SedError } from './script.ts'
import { type Piece, Source } from './source.ts'

export interface Script {
  commands: Command[]
  /** `#n` on the first line. */
  isQuiet: boolean
}

/** Throws `SedError` for an invalid script. */
export function parseScript(pieces: readonly Piece[], options: ScriptOptions): Script {
  return new Parser(new Source(pieces), options).script()
}

const SIMPLE = new Set([...'=dDFgGhHnNpPxz'])
const ONE_ADDRESS = new Set(['q', 'Q', 'r0'])
const EXIT_PANIC = 4
const MISSING_FILE = 'missing filename in r/R/w/W commands'

class Parser extends AddressParser {
  readonly #commands: Command[] = []
  readonly #open: { at: number }[] = []
  readonly #labels = new Map<string, number>()

  script(): Script {
    const source = this.source
    const isQuiet = /^#n(\n|$)/.test(source.text)
    for (;;) {
      source.skip(/[\s;]+/)
      if (source.isAtEnd) break
      if (source.next === '#') source.skip(/[^\n]*/)
      else this.#command()
    }
    if (this.#open.length > 0) throw source.mistake("unmatched `{'", 0)
    this.#resolveLabels()
    return { commands: this.#commands, isQuiet }
  }

  #resolveLabels(): void {
    for (const { action } of this.#commands) {
      if (action.kind !== 'b' && action.kind !== 't' && action.kind !== 'T') continue
      if (action.label === '') action.at = this.#commands.length
      else {
        const at = this.#labels.get(action.label)
        if (at === undefined) throw new SedError(`can't find label for jump to \`${action.label}'`, EXIT_PANIC)
        action.at = at
      }
    }
  }

  #command(): void {
    const source = this.source
    const selection = this.selection()
    source.skip(/\s+/)
    const letter = source.next
    if (letter === '') throw source.mistake('missing command')
    source.at++
    if (selection.to && ONE_ADDRESS.has(letter)) throw source.mistake('command only uses one address')
    if (selection.from && (letter === ':' || letter === '}'))
      throw source.mistake(letter === ':' ? ": doesn't want any addresses" : "} doesn't want any addresses")
    if (letter === '#') throw source.mistake("comments don't accept any addresses")
    const action = this.#action(letter)
    this.#commands.push({ selection, action })
  }

  #action(letter: string): Action {
    const source = this.source
    if ('rRwWe'.includes(letter)) this.#refuseInSandbox()
    if (SIMPLE.has(letter)) return this.#ended({ kind: letter } as Action)
    if (letter === 'r' || letter === 'R' || letter === 'w' || letter === 'W') {
      return { kind: letter, file: this.#fileName() }
    }
    if (letter === 'a' || letter === 'i' || letter === 'c') return { kind: letter, text: this.#text() }
    switch (letter) {
      case '{':
        this.#open.push({ at: this.#commands.length })
        return { kind: '{', end: 0 }
      case '}':
        return this.#close()
      case ':':
        return this.#label()
      case 'b':
      case 't':
      case 'T':
        source.skip(/[ \t]+/)
        return { kind: letter, label: source.skip(/[^\s;}]*/), at: 0 }
      case 's':
        return this.#substitute()
      case 'y':
        return this.#transliterate()
      case 'e':
        source.skip(/[ \t]+/)
        return { kind: letter, command: source.skip(/[^\n]*/) }
      case 'q':
      case 'Q':
        source.skip(/[ \t]+/)
        return this.#ended({ kind: letter, exitCode: Number(source.skip(/\d*/)) & 0xff })
      case 'l':
        return this.#list()
      case 'v':
        return this.#version()
      default:
        throw source.mistake(`unknown command: \`${letter}'`)
    }
  }

  #refuseInSandbox(): void {
    if (this.options.isSandbox) throw this.source.mistake('e/r/w commands disabled in sandbox mode')
  }

  #list(): Action {
    this.source.skip(/[ \t]+/)
    const width = this.source.skip(/\d*/)
    return this.#ended({ kind: 'l', width: width === '' ? null : Number(width) })
  }

  #version(): Action {
    this.source.skip(/[ \t]+/)
    const version = this.source.skip(/[\d.]*/)
    const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
    // This is version 4.9.
    if (major > 4 || (major === 4 && (minor > 9 || (minor === 9 && patch > 0))))
      throw this.source.mistake('expected newer version of sed')
    return this.#ended({ kind: 'v' })
  }

  /** It is followed by a line end, a semicolon, a closing brace or a comment. */
  #ended<Kind extends Action>(action: Kind): Kind {
    const source = this.source
    source.skip(/[ \t\r]+/)
    if (source.isAtEnd || source.next === '}' || source.next === '#') return action
    source.at++
    if (!';\n'.includes(source.text[source.at - 1] ?? '')) throw source.mistake('extra characters after command')
    return action
  }

  #close(): Action {
    const start = this.#open.pop()
    if (!start) throw this.source.mistake("unexpected `}'")
    const block = this.#commands[start.at]?.action
    if (block?.kind === '{') block.end = this.#commands.length
    return this.#ended({ kind: '}' })
  }

  #label(): Action {
    const source = this.source
    source.skip(/[ \t]+/)
    const label = source.skip(/[^\s;]*/)
    if (label === '') throw source.mistake('":" lacks a label')
    this.#labels.set(label, this.#commands.length)
    return { kind: ':' }
  }

  #fileName(): string {
    this.source.skip(/[ \t]+/)
    const name = this.source.skip(/[^\n]*/)
    if (name === '') throw this.source.mistake(MISSING_FILE)
    return name
  }

  /** The text of `a`, `i` and `c`: on the same line or on the next ones, as long as a line ends with a backslash. */
  #text(): string {
    const source = this.source
    source.skip(/[ \t]+/)
    if (source.isAtEnd) throw source.mistake("expected \\ after `a', `c' or `i'")
    if (source.take('\\')) {
      const blank = source.skip(/[ \t]*/)
      // On the command's line a backslash only preserves the leading blanks of the text.
      if (!source.take('\n')) source.at -= blank.length
    }
    const raw = source.skip(/(?:\\[\s\S]|[^\\\n])*\\?/)
    return raw === '' && source.isAtEnd ? '' : `${textOf(raw)}\n`
  }

  #substitute(): Action {
    const source = this.source
    const delimiter = source.next
    source.at++
    const isDelimiter = delimiter !== '' && delimiter !== '\n' && delimiter !== '\\'
    const pattern = isDelimiter ? this.delimited(delimiter, 'regex') : null
    const replacement = pattern === null ? null : this.delimited(delimiter, 'text')
    if (pattern === null || replacement === null) {
      source.at = Math.min(source.at, source.text.length)
      throw source.mistake("unterminated `s' command")
    }
    const flags = this.#flags()
    const regex = this.regex(pattern, flags.options)
    const parts = replacementOf(replacement)
    const highest = Math.max(0, ...parts.map((part) => (part.kind === 'group' ? part.index : 0)))
    if (regex && highest > regex.groups) throw source.mistake(`invalid reference \\${highest} on \`s' command's RHS`)
    return { kind: 's', substitution: { regex, replacement: parts, ...flags.substitution } }
  }

  #flags(): { options: RegexOptions; substitution: Omit<Substitution, 'regex' | 'replacement'> } {
    const source = this.source
    const seen = new Set<string>()
    let [number, file]: [number, string | null] = [1, null]
    const once = (flag: string, name = flag) => {
      if (seen.has(flag)) throw source.mistake(`multiple ${name} options to \`s' command`)
      seen.add(flag)
    }
    for (;;) {
      const digits = source.skip(/\d+/)
      if (digits !== '') {
        number = Number(digits)
        if (number === 0) throw source.mistake("number option to `s' command may not be zero")
        once('number')
        continue
      }
      const flag = source.next
      if (flag === 'g' || flag === 'p') {
        source.at++
        once(flag, `\`${flag}'`)
      } else if (flag !== '' && 'iImMe'.includes(flag)) {
        source.at++
        if (flag === 'e') this.#refuseInSandbox()
        seen.add(flag.toLowerCase())
      } else if (flag === 'w') {
        source.at++
        this.#refuseInSandbox()
        file = this.#fileName()
        break
      } else break
    }
    this.#endFlags()
    const options = { ignoreCase: seen.has('i'), multiline: seen.has('m') }
    const substitution = { isGlobal: seen.has('g'), prints: seen.has('p'), executes: seen.has('e'), number, file }
    return { options, substitution }
  }

  #endFlags(): void {
    const source = this.source
    source.skip(/[ \t\r]+/)
    if (source.isAtEnd || source.next === '}' || source.next === '#' || source.take(';') || source.take('\n')) return
    source.at++
    throw source.mistake("unknown option to `s'")
  }

  #transliterate(): Action {
    const source = this.source
    const delimiter = source.next
    source.at++
    const from = this.delimited(delimiter, 'text')
    const to = from === null ? null : this.delimited(delimiter, 'text')
    if (from === null || to === null) throw source.mistake("unterminated `y' command")
    const [old, fresh] = [charactersOf(from), charactersOf(to)]
    const action = this.#ended({ kind: 'y' as const, map: new Map(old.map((char, i) => [char, fresh[i] ?? ''])) })
    if (old.length !== fresh.length) throw source.mistake("strings for `y' command are different lengths")
    return action
  }
}
