// A command substitution only runs if it was written in a script: bash also runs one in a value that it evaluates as an
// expression (`x='a[$(rm -rf src)]'; echo $((x))`), and in the text of PS4. This is only useful to hide a command from
// readers of the script, so here it fails with a message. Text written in a script, including `eval`, `source`, `sh
// -c`, traps and aliases, runs as usual.

import type { Watched } from './position.ts'
import { readByCat } from './read-substitutions.ts'
import type { Script, StepResult } from './shape.ts'

/** All parts of scripts that were passed on to be run. */
const WRITTEN = new WeakSet<object>()
/** By script: the texts of its substitutions that are parsed at run time. */
const TEXTS = new WeakMap<object, Set<string>>()

/** Fields of parts that the interpreter later reads as code: names with an index, text between braces. */
const CODE_FIELDS = ['name', 'parameter', 'command', 'content', 'originalText', 'baseExpr', 'stringKey', 'text']
const ALIAS = 'BASH_ALIAS_'
const REFUSAL = 'a command substitution that stands in a value is not run here; write it into the script'
/** Shells in which one was refused, until the command is over, because the interpreter hides some errors. */
const REFUSED = new WeakSet<object>()

class MadeSubstitution extends Error {
  override readonly name = 'MadeSubstitution'
}

/** `watch` represents the whole run, in all its shells. */
export function noteWritten(root: object, watch: object): void {
  const texts = TEXTS.get(watch) ?? new Set()
  TEXTS.set(watch, texts)
  const open: object[] = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (WRITTEN.has(node)) continue
    WRITTEN.add(node)
    readByCat(node)
    for (const [field, part] of Object.entries(node)) {
      if (part instanceof String) texts.add(String(part))
      else if (typeof part === 'object' && part !== null) open.push(part)
      else if (typeof part === 'string' && isCode(node, field, part)) texts.add(part)
    }
  }
}

function isCode(node: object, field: string, text: string): boolean {
  if (!CODE_FIELDS.includes(field)) return false
  return /[$`]/.test(text) || ('type' in node && node.type === 'ArithCommandSubst')
}

/** For the body of a substitution, which must be a part of a script. */
export function refuseMade(body: Script, shell: Watched, watch: object): void {
  if (WRITTEN.has(body)) return
  const sources = body.statements.map(({ sourceText }) => sourceText)
  for (const text of codeTexts(shell, watch)) {
    if (!sources.every((source) => source !== undefined && text.includes(source))) continue
    noteWritten(body, watch)
    return
  }
  refuse(shell)
}

/** For the text of a substitution within an expression. */
export function refuseMadeText(command: string, shell: Watched, watch: object): void {
  for (const text of codeTexts(shell, watch)) if (text.includes(command)) return
  refuse(shell)
}

export function refuse(shell: object): never {
  REFUSED.add(shell)
  throw new MadeSubstitution(REFUSAL)
}

function* codeTexts({ ctx }: Watched, watch: object): Generator<string> {
  yield* TEXTS.get(watch) ?? []
  for (const [name, value] of ctx.state.env) if (name.startsWith(ALIAS)) yield value
}

/** The result of a command with a refused one; null for any other error. */
export function refusedSubstitution(shell: Watched, error: unknown): string | null {
  if (!(error instanceof MadeSubstitution)) return null
  REFUSED.delete(shell)
  return `bash: ${REFUSAL}\n`
}

/** The command with a refused one fails, with a message. */
export function withRefusal(shell: Watched, result: StepResult): StepResult {
  if (!REFUSED.delete(shell)) return result
  const stderr = result.stderr.includes(REFUSAL) ? result.stderr : `${result.stderr}bash: ${REFUSAL}\n`
  return { ...result, stderr, exitCode: result.exitCode || 1 }
}
