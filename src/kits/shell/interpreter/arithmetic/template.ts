// The text of an expression before it is evaluated. Bash first expands it like text in double quotes, and parses the
// result: so `${n%0}+1` and `16#$x` work. Names are looked up here; everything else that starts with `$` is parsed as a
// word by the library and expanded by its interpreter.

import type { Watched } from '../position.ts'
import type { Script } from '../shape.ts'
import { type Part, type Word, wordsAlone } from '../words-alone.ts'
import {
  bracketsEscaped,
  type NamePiece,
  namePieces,
  type Parameters,
  placed,
  valueAt,
  withoutQuotes,
} from './names.ts'
import { ArithmeticError } from './scanner.ts'

type Parse = (text: string) => Script
export type Piece = NamePiece | { word: Word; inBrackets: boolean }

const NEEDS_READING = /[$`\\"]/

/** Inside quotes within the expression, a value is still text. */
export function piecesOf(text: string, parse: Parse): Piece[] {
  if (!NEEDS_READING.test(text)) return [text]
  return namePieces(text) ?? placed(partsOf(text, parse).map(pieceOf))
}

/** The body of a here-document is expanded in the same way. */
function partsOf(text: string, parse: Parse): readonly Part[] {
  let end = 'end_of_expression'
  while (text.includes(end)) end += '_'
  const [statement] = parsed(`: <<${end}\n${text}\n${end}\n`, parse)?.statements ?? []
  const [command] = statement?.pipelines[0]?.commands ?? []
  const target = command && 'redirections' in command ? command.redirections[0]?.target : undefined
  if (target?.type !== 'HereDoc') return [{ type: 'Literal', value: text }]
  const parts = [...target.content.parts]
  const last = parts.at(-1)
  if (last?.type === 'Literal') parts[parts.length - 1] = { ...last, value: last.value.replace(/\n$/, '') }
  return parts
}

/** Null for a text that is not a valid script: then it is not a valid expression either, which is reported at evaluation. */
function parsed(script: string, parse: Parse): Script | null {
  try {
    return parse(script)
  } catch {
    // Any error of the parser means that the text is invalid.
    return null
  }
}

function pieceOf(part: Part): Piece {
  if (part.type === 'Literal') return withoutQuotes(part.value)
  if (part.type === 'Escaped') return part.value
  return { word: { type: 'Word', parts: [{ type: 'DoubleQuoted', parts: [part] }] }, inBrackets: false }
}

/** The result at once if only names must be looked up; otherwise null. */
export function expandedNames(pieces: readonly Piece[], parameters: Parameters): string | null {
  let text = ''
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece
    else if ('word' in piece) return null
    else text += valueAt(piece, parameters)
  }
  return text
}

export async function expanded(pieces: readonly Piece[], shell: Watched, parameters: Parameters): Promise<string> {
  let text = ''
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece
    else if ('name' in piece) text += valueAt(piece, parameters)
    else text += bracketsEscaped(await expandedWord(piece.word, shell), piece.inBrackets)
  }
  return text
}

export async function expandedWord(word: Word, shell: Watched): Promise<string> {
  const words = await wordsAlone(shell, word, (command) => shell.executeCommand(command, '', true))
  if (Array.isArray(words)) return words.join(' ')
  throw new ExpansionError(words.stderr)
}

/** The interpreter's message about a word that it could not expand. */
export class ExpansionError extends ArithmeticError {
  readonly said: string

  constructor(said: string) {
    super(said)
    this.said = said
  }
}
