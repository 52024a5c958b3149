// A text that is no script as a whole may hold commands all the same: the interpreter reads less than a shell on a machine
// does, which runs line by line until it comes to a mistake. So the text is cut wherever a command may begin.

import type { Script } from '../../workspace/interpreter/shape.ts'
import { refusedScript } from '../../workspace/script-work.ts'
import type { ParseShell } from '../../workspace/shell-parser.ts'
import { type Findings, TooMuch } from './bench.ts'
import { costOf } from './parse-cost.ts'

/** Longer scripts are not parsed: what agents write themselves is far below. */
const MAX_SCRIPT_CHARS = 120_000
/** A text of which only pieces can be parsed. */
const MAX_PIECES = 400

/** The script, or what could be parsed of it. */
export function readScript(
  text: string,
  parse: ParseShell,
  findings: Findings,
): { script: Script | null; parts: readonly Script[] } {
  if (text.length > MAX_SCRIPT_CHARS || refusedScript(text) !== null) throw new TooMuch('size')
  findings.spend()
  const script = parsed(text, parse, findings)
  if (script !== null) return { script, parts: [] }
  const pieces = piecesOf(text)
  if (pieces.length > MAX_PIECES) throw new TooMuch('pieces')
  const parts = pieces.map((piece) => parsed(piece, parse, findings))
  return { script, parts: parts.filter((part) => part !== null) }
}

/** Null for what is no script. Whatever the parser throws, the text could not be read by it. */
function parsed(text: string, parse: ParseShell, findings: Findings): Script | null {
  findings.spendParsing(costOf(text))
  try {
    return parse(text)
  } catch {
    return null
  }
}

const SEPARATOR = /&&|\|\||;;&?|;&|[;\n&|(){}`]/
const LEADING = /^\s*(?:(?:then|do|else|elif|if|while|until|in|time|!|coproc(?:\s+[A-Z]\w*(?=\s|$))?|\$)(?=\s|$)\s*)+/

function piecesOf(script: string): string[] {
  const text = script.replaceAll('\\\n', '')
  const whole = text
    .replace(/\bselect(?=\s+\w+(\s+in\b|\s*;))/g, 'for')
    .replace(/\bcoproc\s+([A-Za-z_]\w*\s+(?=[({]))?/g, '')
  const pieces = text.split(SEPARATOR).map((piece) => piece.replace(LEADING, ''))
  return [whole, ...text.split('\n'), ...pieces].filter((piece) => piece.trim() !== '')
}
