// A shell that reads its script from the standard input (`bash < file`, `curl … | sh`) reads it command by command;
// commands of the script read from the rest of the same text, which is then no longer part of the script.

import { bytesToText, textToBytes } from '../../../workspace/text-encodings.ts'
import { veiled } from './arithmetic/veil.ts'
import { joinedResults, type Position, type Watched } from './position.ts'
import { refusedText, repairWords } from './repairs.ts'
import type { Script, Statement, StepResult } from './shape.ts'
import { scriptOf } from './trap-runs.ts'
import { writtenText } from './words-alone.ts'
import { noteWritten } from './written-substitutions.ts'

type Execute = (script: Script) => Promise<StepResult>
type Run = { shell: Watched; position: Position; execute: Execute }

const SYNTAX_ERROR = 2
/** The number of lines that are tried as the first command, if the whole text is invalid. */
const MOST_LINES = 200

export async function runScriptInput(run: Run): Promise<StepResult> {
  const { state } = run.shell.ctx
  let result: StepResult = { stdout: '', stderr: '', exitCode: 0 }
  // The parser adds a line before its input.
  let line = -1
  while (!run.position.isOver && (state.groupStdin ?? '').trim() !== '') {
    const bytes = state.groupStdin ?? ''
    const text = veiled(bytesToText(textToBytes(bytes, 'latin1'), 'utf8'))
    const refused = refusedText(text)
    if (refused !== null) {
      state.groupStdin = ''
      return joinedResults(result, refused, refused.exitCode)
    }
    const script = parsed(text, run) ?? firstCommand(text, run)
    if (typeof script === 'string') {
      state.groupStdin = ''
      return joinedResults(
        result,
        { stdout: '', stderr: `bash: syntax error: ${script}\n`, exitCode: SYNTAX_ERROR },
        SYNTAX_ERROR,
      )
    }
    // Only comments are left.
    if (script.statements.length === 0) state.groupStdin = ''
    const done = await runStatements(script, { ...run, text, bytes, line })
    result = joinedResults(result, done, done.exitCode)
    line += bytes.slice(0, bytes.length - (state.groupStdin ?? '').length).split('\n').length - 1
  }
  return result
}

function parsed(text: string, { position }: Run): Script | null {
  try {
    return position.watch.parts.parse(text)
  } catch (error) {
    if (isParseError(error)) return null
    throw error
  }
}

const isParseError = (error: unknown): error is Error => error instanceof Error && /^(Parse|Lexer)/.test(error.name)

/** For a text with lines that are not part of the script; a text is the error. */
function firstCommand(text: string, run: Run): Script | string {
  let end = 0
  for (let i = 0; i < MOST_LINES && end < text.length; i++) {
    end = endOfLine(text, end)
    const script = parsed(text.slice(0, end), run)
    if (!script || (script.statements.length === 0 && end < text.length)) continue
    const wholeEnd = lines(script, text).at(-1)?.end ?? end
    return wholeEnd > end ? (parsed(text.slice(0, wholeEnd), run) ?? script) : script
  }
  try {
    run.position.watch.parts.parse(text)
  } catch (error) {
    if (isParseError(error)) return error.message
    throw error
  }
  return 'unexpected end of file'
}

const endOfLine = (text: string, from: number): number => {
  const found = text.indexOf('\n', from)
  return found < 0 ? text.length : found + 1
}

/** Errors after which the interpreter runs no more of a script, and returns as if it had ended. */
const ENDING: ReadonlySet<string> = new Set(['ErrexitError', 'NounsetError', 'BadSubstitutionError', 'PosixFatalError'])

export const endsShell = (error: unknown): boolean => error instanceof Error && ENDING.has(error.name)

type ScriptRun = Run & { text: string; bytes: string; line: number }

/** Up to a statement that has read input: after it, the text is different. */
async function runStatements(script: Script, parts: ScriptRun): Promise<StepResult> {
  const { shell, position, execute, text, bytes, line } = parts
  const { state } = shell.ctx
  shiftLines(script, line)
  repairWords(script, position.watch.parts.parse)
  noteWritten(script, position.watch)
  position.topStatements = new Set(script.statements)
  let result: StepResult = { stdout: '', stderr: '', exitCode: state.lastExitCode }
  let [textEnd, byteEnd] = [0, 0]
  for (const { statements, end } of lines(script, text)) {
    byteEnd += textToBytes(text.slice(textEnd, end), 'utf8').byteLength
    textEnd = end
    const rest = bytes.slice(byteEnd)
    state.groupStdin = rest
    const done = await execute(scriptOf(statements))
    result = joinedResults(result, done, done.exitCode)
    if (position.isOver || state.groupStdin !== rest) return result
  }
  return result
}

/** Commands on the same line are read together. */
function lines({ statements }: Script, text: string): { statements: Statement[]; end: number }[] {
  const groups: { statements: Statement[]; end: number }[] = []
  let at = 0
  for (const statement of statements) {
    const source = statement.sourceText ?? ''
    const start = Math.max(at, text.indexOf(source, at))
    at = start + source.length
    const last = groups.at(-1)
    const end = Math.max(last?.end ?? 0, afterDocuments(statement, text, endOfLine(text, at)))
    if (last && start < last.end) Object.assign(last, { statements: [...last.statements, statement], end })
    else groups.push({ statements: [statement], end })
  }
  return groups
}

/** After the here-documents that start after the line. */
function afterDocuments(statement: Statement, text: string, lineEnd: number): number {
  let at = lineEnd
  for (const { delimiter, stripTabs } of documentsIn(statement)) {
    for (let isOver = false; !isOver && at < text.length; ) {
      const end = endOfLine(text, at)
      const line = text.slice(at, end).replace(/\n$/, '')
      isOver = (stripTabs ? line.replace(/^\t+/, '') : line) === delimiter
      at = end
    }
  }
  return at
}

type Document = { delimiter: string; stripTabs: boolean }

function documentsIn(root: object): Document[] {
  const found: Document[] = []
  const visit = (node: object): void => {
    if ('type' in node && node.type === 'HereDoc' && 'delimiter' in node) {
      const stripTabs = 'stripTabs' in node && node.stripTabs === true
      found.push({ delimiter: wordOf(node.delimiter), stripTabs })
      return
    }
    for (const value of Object.values(node)) if (typeof value === 'object' && value !== null) visit(value)
  }
  visit(root)
  return found
}

function wordOf(delimiter: unknown): string {
  if (typeof delimiter === 'string') return delimiter
  const word = delimiter as { parts?: Parameters<typeof writtenText>[0][] } | null
  return (word?.parts ?? []).map(writtenText).join('')
}

function shiftLines(root: object, by: number): void {
  if (by === 0) return
  const open = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ('line' in node && typeof node.line === 'number') node.line += by
    for (const value of Object.values(node)) if (typeof value === 'object' && value !== null) open.push(value)
  }
}
