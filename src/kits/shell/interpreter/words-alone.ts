// Expands the words of a command with the interpreter, without running the command.

import type { Position, Watched } from './position.ts'
import type { Command, SimpleCommand, StepResult } from './shape.ts'

export type Word = SimpleCommand['args'][number]
export type Part = Word['parts'][number]
/** The interpreter's own step. */
export type Run = (as: Command) => Promise<StepResult>

/** Used instead of a command. */
const WORDS_ALONE = 'the words of a pattern'

export const literal = (value: string): Word => ({ type: 'Word', parts: [{ type: 'SingleQuoted', value }] })

/** The word expanded by the interpreter, or the failure. */
export async function wordsAlone(shell: Watched, word: Word, run: Run): Promise<string[] | StepResult> {
  const { state } = shell.ctx
  const { position } = shell
  if (!position) return []
  const { lastArg, lastExitCode } = state
  const shown = state.env.get('_')
  let words: string[] | null = null
  // An expansion within the word may do the same for other words.
  const outer = position.takeWords
  position.takeWords = (args) => {
    words = args
  }
  const command: Command = {
    type: 'SimpleCommand',
    assignments: [],
    name: literal(WORDS_ALONE),
    args: [word],
    redirections: [],
  }
  let result: StepResult
  try {
    result = await unshown(shell, position, () => run(command))
  } finally {
    position.takeWords = outer
  }
  if (words === null) return result
  state.lastArg = lastArg
  state.lastExitCode = lastExitCode
  state.env.set('?', String(lastExitCode))
  if (shown !== undefined) state.env.set('_', shown)
  return words
}

/** Runs a command that is not in the script: `set -x` does not show it, but shows commands of its substitutions. */
export async function unshown<T>({ ctx }: Watched, position: Position, run: () => Promise<T>): Promise<T> {
  const { options } = ctx.state
  const { tracesWords } = position
  position.tracesWords ||= options.xtrace === true
  try {
    return await withOption(options, 'xtrace', false, run)
  } finally {
    position.tracesWords = tracesWords
  }
}

export const isWordsAlone = ({ takeWords }: Position, name: string): boolean =>
  name === WORDS_ALONE && takeWords !== null

/** For a command that is called only for its words; null for any other. */
export function takeWords(position: Position, name: string, args: string[]): StepResult | null {
  if (!isWordsAlone(position, name) || !position.takeWords) return null
  position.takeWords(args)
  return { stdout: '', stderr: '', exitCode: 0 }
}

export async function withOption<Name extends string, T>(
  options: Partial<Record<Name, boolean>>,
  name: Name,
  value: boolean,
  work: () => Promise<T>,
): Promise<T> {
  const before = options[name] ?? false
  options[name] = value
  try {
    return await work()
  } finally {
    options[name] = before
  }
}

/** The text of parts of a word, without splitting and file name expansion; `quote` is called for quoted text. */
export async function textOfParts(
  shell: Watched,
  parts: readonly Part[],
  { run, quote = (text) => text }: { run: Run; quote?: (text: string) => string },
): Promise<string | StepResult> {
  let text = ''
  for (const part of parts) {
    const written = writtenText(part)
    const words = written ?? (await wordsAlone(shell, { type: 'Word', parts: [inQuotes(part)] }, run))
    if (typeof words !== 'string' && !Array.isArray(words)) return words
    const piece = typeof words === 'string' ? words : words.join(' ')
    text += QUOTED.has(part.type) ? quote(piece) : piece
  }
  return text
}

const QUOTED: ReadonlySet<string> = new Set(['SingleQuoted', 'DoubleQuoted', 'Escaped'])
const UNSPLIT: ReadonlySet<string> = new Set(['ParameterExpansion', 'CommandSubstitution', 'ArithmeticExpansion'])

/** Null for a part that must be expanded. */
export function writtenText(part: Part): string | null {
  if (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'Escaped') return part.value
  return part.type === 'Glob' ? part.pattern : null
}

const inQuotes = (part: Part): Part => (UNSPLIT.has(part.type) ? { type: 'DoubleQuoted', parts: [part] } : part)
