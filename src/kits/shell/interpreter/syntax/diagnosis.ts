// Invalid scripts: the part that bash runs before it reaches the error, and its error message. Bash reads a line, or
// all lines of a command, and runs that before it reads on.

import type { StepResult } from '../shape.ts'
import { Grammar } from './grammar.ts'
import { SyntaxProblem } from './problems.ts'

export interface Diagnosis {
  /** The start of the command with the error, which is not run, nor anything after it. */
  end: number
  /** Counted from 1. */
  line: number
  words: string
  /** The original line, if bash shows it. */
  shown: string | null
}

/** Null for a text without errors that can be detected before it runs. */
export function diagnosed(script: string): Diagnosis | null {
  // Bash adds a missing line end to the last line.
  const text = script.endsWith('\n') ? script : `${script}\n`
  const grammar = new Grammar(text)
  let end: number | null = 0
  try {
    for (end = grammar.begin(); end !== null; end = grammar.begin()) grammar.unit()
    return null
  } catch (error) {
    if (error instanceof RangeError) return null
    if (!(error instanceof SyntaxProblem)) throw error
    return { end: end ?? 0, ...placed(text, error) }
  }
}

function placed(text: string, { at, words, showsLine }: SyntaxProblem): Omit<Diagnosis, 'end'> {
  const line = text.slice(0, at).split('\n').length
  const start = text.lastIndexOf('\n', at - 1) + 1
  const end = text.indexOf('\n', start)
  return { line, words, shown: showsLine ? text.slice(start, end < 0 ? undefined : end) : null }
}

const OF_PARSER = /Parse error at (\d+):\d+: (.*)/
/** The parser's messages about expressions in `[[ ]]`, which are not parsed here. */
const OF_TEST = /DBRACK|operand/

/** For errors found only by the interpreter's parser; null if the text is valid for bash. */
function diagnosedBy(message: string, text: string): Diagnosis | null {
  const [, line = '', words = ''] = OF_PARSER.exec(message) ?? []
  if (!OF_TEST.test(words)) return null
  const lines = text.split('\n')
  const shown = lines[Number(line) - 1] ?? ''
  const lineStart = lines.slice(0, Number(line) - 1).join('\n').length
  const grammar = new Grammar(text)
  let end = 0
  for (let next = grammar.begin(); next !== null && next <= lineStart + 1; next = grammar.begin()) {
    end = next
    grammar.unit()
  }
  return { end, line: Number(line), words: 'syntax error in conditional expression', shown }
}

/** Bash's message; `source` is the name of the text. */
export function syntaxMessage({ line, words, shown }: Diagnosis, source: string, lines = 0): string {
  const place = `${source}: line ${line + lines}: `
  return `${place}${words}\n${shown === null ? '' : `${place}\`${shown}'\n`}`
}

const NEIGHBOURS = [
  // `&& &&`, `; ;`, `| |`
  /(?:&&|\|[|&]?|(?<!;);(?!;)|(?<![<>&])&(?![>&]))[ \t]+(?:&&|\|\|?|;(?!;))/,
  // `&&` and the end
  /(?:&&|\|[|&]?)\s*$/,
  // `if then`
  /\b(?:if|while|until|elif|then|do|else)[ \t\n]+(?:then|do|done|fi|else|elif)\b/,
  // `( )` and `{ }`
  /(?:^|[;&|(){!\n]|\b(?:then|do|else|if|while|until))[ \t]*(?:\([ \t\n]*\)|\{[ \t\n]+\})/,
  // `for i in a do`
  /\bfor[ \t]+\w+[ \t]+in\b[^;\n]*\bdo\b/,
  // `$((` and no end
  /\$\(\((?![\s\S]*\)\))/,
]

/** Whether a text that the parser accepts may be invalid for bash, by a quick check. */
function looksWrong(text: string): boolean {
  return NEIGHBOURS.some((one) => one.test(text))
}

type Reading = {
  /** The name of the text in messages, and the number of lines before it. */
  source: string
  lines?: number
  /** Runs the text, and then reports the error of the rest. */
  run: (text: string, error: string | null) => Promise<{ result: StepResult; isRead: boolean }>
}

/** Runs a text up to its first syntax error. Only a text that looks wrong, or was refused, is read twice. */
export async function runReadable(text: string, { source, lines, run }: Reading): Promise<StepResult> {
  let found = looksWrong(text) ? diagnosed(text) : null
  if (found === null) {
    const { result, isRead } = await run(text, null)
    if (isRead) return result
    found = diagnosed(text) ?? diagnosedBy(result.stderr, text)
    if (found === null) return result
  }
  const { result } = await run(`${text.slice(0, found.end)}#`, syntaxMessage(found, source, lines))
  return result
}
