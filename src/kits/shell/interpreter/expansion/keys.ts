// Text that the parser keeps unparsed: the text in the brackets of `${m[…]}`, and pattern groups (`@($x|'a b')`).

import { withoutSigns } from '../arithmetic/veil.ts'
import type { Script } from '../shape.ts'
import { literal, type Word } from '../words-alone.ts'
import type { Purpose } from './expands.ts'
import { type Piece, plain, quoted } from './fields.ts'

const TOKEN =
  /'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\$'(?:\\[\s\S]|[^'\\])*'|\$\{[^}]*\}|\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|\\[\s\S]|[\s\S]/g
const SIGN = /^[\s;|&<>()*?[\]~{}#!=]$/
const MOST_KNOWN = 1000
const KNOWN = new Map<string, Word>()

type Parse = (text: string) => Script

export function keyWord(text: string, parse: Parse): Word {
  if (/^[\w.:/@%+,-]*$/.test(text)) return literal(text)
  return read(text, parse, (token) => (token === '\n' ? "'\n'" : SIGN.test(token) ? `\\${token}` : token))
}

const GROUP = /[@?*+!]\(/

export const hasGroup = (pattern: string): boolean => GROUP.test(pattern)

/** Its operators are text among the parts of the word; expansions and quotes are separate parts. */
export function groupWord(pattern: string, parse: Parse): Word {
  if (!/[$`'"\\]/.test(pattern)) return literal(pattern)
  return read(pattern, parse, withoutSigns)
}

const IN_LIST = /'([^']*)'|\\([\s\S])|[^'\\]+|['\\]/g

/**
 * A bracket expression found by the parser (`['a-z'\]]`): quotes and backslashes in it are not literal. In an
 * expression, backslashes are.
 */
export function listItems(pattern: string, purpose: Purpose): Piece[] {
  return [...pattern.matchAll(IN_LIST)].map(([whole, inQuotes, escaped]) => {
    if (purpose === 'expression') return plain(inQuotes ?? whole)
    const letters = inQuotes ?? escaped
    return letters === undefined ? plain(whole) : quoted(letters)
  })
}

/** Parsed as the value of an assignment, with some of its characters replaced. */
function read(text: string, parse: Parse, changed: (token: string) => string): Word {
  const known = KNOWN.get(text)
  if (known) return known
  const escaped = text.replace(TOKEN, (token) => (token.length === 1 ? changed(token) : token))
  const command = parse(`_=${escaped}`).statements[0]?.pipelines[0]?.commands[0]
  const value = command?.type === 'SimpleCommand' ? command.assignments[0]?.value : null
  if (KNOWN.size >= MOST_KNOWN) KNOWN.clear()
  const word = value ?? literal(text)
  KNOWN.set(text, word)
  return word
}
