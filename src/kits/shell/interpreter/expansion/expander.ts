// Expands the words of a command like bash: parameters, substitutions, arithmetic, tildes, word splitting, file names.
// The interpreter runs substitutions, and computes dynamic variables.

import type { Expression } from '../arithmetic/expression.ts'
import { isRunnable } from '../arithmetic/mend.ts'
import type { Position, Watched } from '../position.ts'
import type { SimpleCommand } from '../shape.ts'
import { exitBySyntax, NO_GROUPS } from '../unset-errors.ts'
import { literal, type Part, type Run, unshown, type Word, withOption, wordsAlone } from '../words-alone.ts'
import type { Expands, ExpansionContext, Purpose } from './expands.ts'
import { expandedParameter } from './expansions.ts'
import { ExpansionFailure } from './failure.ts'
import {
  BREAK,
  type Field,
  fieldsOf,
  type Item,
  NOTHING,
  type Piece,
  parted,
  plain,
  quoted,
  Separators,
  textOf,
} from './fields.ts'
import { filesOf } from './files.ts'
import { groupWord, hasGroup, keyWord, listItems } from './keys.ts'
import { countsBytes, inLocale } from './locale.ts'
import { asText, type Pattern, patternOf } from './pattern.ts'
import { withTildes } from './tildes.ts'

const TEMPORARY = '_worked_out_'

export class Expander implements Expands {
  readonly shell: Watched
  readonly position: Position
  readonly run: Run
  /** The error output of substitutions. */
  stderr = ''
  /** Of the last substitution. */
  status: number | null = null

  constructor(shell: Watched, position: Position, run: Run) {
    this.shell = shell
    this.position = position
    this.run = run
  }

  get state() {
    return this.shell.ctx.state
  }

  get separators(): Separators {
    return new Separators(this.state.env)
  }

  failure(message: string, { isReported = true } = {}): ExpansionFailure {
    const stderr = `bash: line ${this.state.currentLine}: ${message}\n`
    return new ExpansionFailure({ stdout: '', stderr, exitCode: 1 }, isReported ? 'reports' : 'discards')
  }

  /** The fields of a word. */
  async words(word: Word): Promise<string[]> {
    const place: ExpansionContext = { purpose: 'fields', isQuoted: false, splitsText: false }
    const fields = fieldsOf(await this.items(withTildes(word.parts, this.state.env), place), this.separators)
    const words: string[] = []
    for (const field of fields) words.push(...(await filesOf(this.shell, field)))
    return words
  }

  /** Without word splitting and file name expansion. */
  async text(parts: readonly Part[], purpose: Purpose = 'text'): Promise<string> {
    return textOf(await this.pieces(parts, purpose))
  }

  async pieces(parts: readonly Part[], purpose: Purpose = 'text'): Promise<Field> {
    const items = await this.items(parts, { purpose, isQuoted: false, splitsText: false })
    return items.filter((item): item is Piece => typeof item !== 'string')
  }

  /** `isRaw`: the parser has not searched the text for patterns. `folds`: from `nocasematch`. */
  async pattern(
    word: Word,
    { hasGroups = this.state.shoptOptions.extglob, isRaw = false, folds = true } = {},
  ): Promise<Pattern> {
    const pieces = await this.pieces(word.parts, isRaw ? 'expression' : 'text')
    const text = pieces.map((piece) => (piece.isQuoted ? asText(piece.text) : piece.text)).join('')
    const ignoresCase = folds && this.state.shoptOptions.nocasematch
    return patternOf(inLocale(this.state, text), { hasGroups, ignoresCase, isOfBytes: countsBytes(this.state) })
  }

  /** The pieces of a replacement, with null for an `&`, which is the matched text. */
  async template(word: Word, hasMatch: boolean): Promise<(string | null)[]> {
    const pieces = await this.pieces(word.parts)
    return pieces.flatMap((piece): (string | null)[] => {
      if (piece.isQuoted || !hasMatch) return [piece.text]
      return [...piece.text.matchAll(/\\([\\&])|(&)|[^\\&]+|\\/g)].map(([whole, escaped, sign]) =>
        sign ? null : (escaped ?? whole),
      )
    })
  }

  async items(parts: readonly Part[], place: ExpansionContext): Promise<Item[]> {
    const items: Item[] = []
    for (const part of parts) items.push(...(await this.#part(part, place)))
    return items
  }

  async #part(part: Part, place: ExpansionContext): Promise<Item[]> {
    const text = (value: string) => [
      place.isQuoted ? quoted(value) : place.splitsText && place.purpose === 'fields' ? parted(value) : plain(value),
    ]
    const worked = (value: string) => [
      place.isQuoted || place.purpose !== 'fields' ? { ...quoted(value), isQuoted: place.isQuoted } : parted(value),
    ]
    switch (part.type) {
      case 'Literal':
        // Pattern characters are separate parts except in `$'…'`, which is text.
        return place.purpose !== 'expression' && /[*?[\\]/.test(part.value) ? [quoted(part.value)] : text(part.value)
      case 'Glob':
        if (place.isQuoted) return text(part.pattern)
        return hasGroup(part.pattern) ? this.#group(part.pattern, place) : listItems(part.pattern, place.purpose)
      case 'SingleQuoted':
        // In the default value in a here-document, such quotes are literal.
        return [quoted(place.purpose === 'document' ? `'${part.value}'` : part.value)]
      case 'Escaped':
        return [quoted(part.value)]
      case 'DoubleQuoted':
        return this.#inQuotes(part.parts, place)
      case 'TildeExpansion':
        return place.isQuoted ? text(`~${part.user ?? ''}`) : [quoted(await this.#tilde(part))]
      case 'CommandSubstitution':
        return worked(await this.#substitute(part))
      case 'ArithmeticExpansion':
        return worked(await this.#number(part))
      case 'ParameterExpansion':
        return expandedParameter(this, part, place)
      case 'BraceExpansion':
        return this.#braces(part, place)
      default:
        return [quoted((await this.asked(part)).join(' '))]
    }
  }

  async #inQuotes(parts: readonly Part[], place: ExpansionContext): Promise<Item[]> {
    if (parts.length === 0) return [quoted('')]
    const items = await this.items(parts, { ...place, isQuoted: true, splitsText: false })
    if (!items.includes(NOTHING)) return items
    const others = items.filter((item) => item !== NOTHING)
    return others.some((item) => item === BREAK || item.text !== '') ? others : []
  }

  async #tilde(part: Part & { type: 'TildeExpansion' }): Promise<string> {
    const { env } = this.state
    if (part.user === null) return env.get('HOME') ?? (await this.asked(part)).join('')
    return (await this.asked(part)).join('')
  }

  async #group(pattern: string, place: ExpansionContext): Promise<Item[]> {
    // Bash would have refused the script.
    if (place.purpose === 'fields' && !this.state.shoptOptions.extglob) {
      return exitBySyntax(this.shell, NO_GROUPS)
    }
    const word = groupWord(pattern, this.position.parse)
    if (word.parts.length === 1 && word.parts[0]?.type === 'SingleQuoted') return [plain(pattern)]
    return this.items(word.parts, { ...place, splitsText: false })
  }

  /** Braces within an expansion are text. */
  async #braces(part: Part & { type: 'BraceExpansion' }, place: ExpansionContext): Promise<Item[]> {
    const items: Item[] = [plain('{')]
    for (const [i, item] of part.items.entries()) {
      if (i > 0) items.push(plain(','))
      if (item.type === 'Word') items.push(...(await this.items(item.word.parts, place)))
      else
        items.push(
          plain(`${item.startStr ?? item.start}..${item.endStr ?? item.end}${item.step ? `..${item.step}` : ''}`),
        )
    }
    return [...items, plain('}')]
  }

  async #substitute(part: Part): Promise<string> {
    let name = TEMPORARY
    while (this.state.env.has(name)) name += '_'
    const value: Word = { type: 'Word', parts: [{ type: 'DoubleQuoted', parts: [part] }] }
    const assignment = { type: 'Assignment' as const, name, value, append: false, array: null }
    const command: SimpleCommand = {
      type: 'SimpleCommand',
      assignments: [assignment],
      name: null,
      args: [],
      redirections: [],
    }
    const { options } = this.state
    const result = await unshown(this.shell, this.position, () =>
      withOption(options, 'allexport', false, () => this.run(command)),
    )
    // A substitution replaces the map of variables.
    const text = this.state.env.get(name)
    this.state.env.delete(name)
    if (text === undefined) throw new ExpansionFailure(result)
    this.stderr += result.stderr
    this.status = result.exitCode
    return text
  }

  async #number(part: Part & { type: 'ArithmeticExpansion' }): Promise<string> {
    const { left } = part.expression.expression as unknown as { left?: { command?: unknown } }
    const command = left?.command
    if (!isRunnable(command)) return (await this.asked(part)).join(' ')
    await command.run(this.shell)
    return String((command as Expression).outcome.value)
  }

  /** The interpreter's words for a part in quotes. */
  async asked(part: Part): Promise<string[]> {
    const isBare = part.type === 'TildeExpansion' || part.type === 'ProcessSubstitution'
    const parts: Part[] = isBare ? [part] : [{ type: 'DoubleQuoted', parts: [part] }]
    const words = await wordsAlone(this.shell, { type: 'Word', parts }, this.run)
    if (!Array.isArray(words)) throw new ExpansionFailure(words)
    return words
  }

  /** The key in brackets. */
  key(text: string): Promise<string> {
    return this.text(keyWord(text, this.position.parse).parts)
  }

  /** Assigned like in the script. */
  async assign(name: string, value: string): Promise<void> {
    const variable = name.replace(/\[.*$/s, '')
    if (this.state.readonlyVars?.has(variable)) throw this.failure(`${variable}: readonly variable`)
    const assignment = { type: 'Assignment' as const, name, value: literal(value), append: false, array: null }
    const command: SimpleCommand = {
      type: 'SimpleCommand',
      assignments: [assignment],
      name: null,
      args: [],
      redirections: [],
    }
    const result = await withOption(this.state.options, 'xtrace', false, () => this.run(command))
    if (result.exitCode !== 0) throw new ExpansionFailure(result)
  }
}
