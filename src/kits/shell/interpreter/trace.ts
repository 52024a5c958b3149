// The output of `set -x` for function calls, which the interpreter shows after the function has ended, and for
// constructs that it does not show: iterations of a loop, tests, arithmetic, `case`, arrays, and the depth of
// substitutions.

import { wholeAsWritten } from './arithmetic/mend.ts'
import { shownAtOnce } from './output-routes.ts'
import { joinedResults, type Position, type Watched } from './position.ts'
import { commandAsText, headAsText } from './script-text.ts'
import type { Command, StepResult } from './shape.ts'
import { type Run, textOfParts, type Word, wordsAlone } from './words-alone.ts'

/** The prefix of each line; null for one that must be expanded, which only the interpreter can do. */
function prefix({ ctx }: Watched): string | null {
  const set = ctx.state.env.get('PS4') ?? '+ '
  return /[$`\\]/.test(set) ? null : set
}

/** The line for a call, exactly like the interpreter's, so that the latter can be found and removed afterwards. */
export async function callTrace(shell: Watched, words: readonly string[]): Promise<string | null> {
  if (!shell.ctx.state.options.xtrace) return null
  const start = prefix(shell) ?? (await expandedPrefix(shell, (as) => shell.executeCommand(as, '', true)))
  return words.every((word) => /^[^\s'"\\$`!*?[\]{}|&;<>()~#]+$/.test(word) || /^[^'\\\p{Cc}]+$/u.test(word))
    ? `${start}${words.map((word) => (/^[^\s"$`!*?[\]{}|&;<>()~#]+$/.test(word) ? word : `'${word}'`)).join(' ')}\n`
    : null
}

export async function roundTrace(shell: Watched, run: Run, loop: Command): Promise<string> {
  return shell.position ? line(shell, run, { node: loop, text: headAsText(loop, shell.position.textOf) }) : ''
}

type Traced = { node: Command; run: Run }
type Test = Extract<Command, { type: 'ConditionalCommand' }>['expression']

/** Constructs that the interpreter does not show: `[[ ]]`, `(( ))`, `case`, and array assignments. */
export async function withTrace(shell: Watched, position: Position, { node, run }: Traced): Promise<StepResult> {
  if (!shell.ctx.state.options.xtrace) return run(node)
  if (node.type === 'ConditionalCommand') return test(shell, position, { node, run, expression: node.expression })
  const text = textFor(node, position)
  return text === null ? run(node) : withLine(position, await line(shell, run, { node, text }), () => run(node))
}

function textFor(node: Command, { textOf }: Position): string | null {
  if (node.type === 'Case') return headAsText(node, textOf).trim()
  if (node.type === 'ArithmeticCommand') {
    return `(( ${commandAsText({ ...node, redirections: [] }, textOf).slice(2, -2)} ))`
  }
  if (node.type !== 'SimpleCommand' || node.name !== null) return null
  const arrays = node.assignments.filter(({ array, name }) => array !== null || name.includes('['))
  if (arrays.length === 0) return null
  return arrays.map((one) => commandAsText({ ...node, assignments: [one], redirections: [] }, textOf)).join('\n')
}

async function withLine(position: Position, shown: string, run: () => Promise<StepResult>): Promise<StepResult> {
  if (await shownAtOnce(position, shown)) return run()
  const result = await run()
  return { ...result, stderr: shown + result.stderr }
}

type Testing = { node: Extract<Command, { type: 'ConditionalCommand' }>; run: Run; expression: Test }

/** Each test in a list of them is shown and run separately. */
async function test(shell: Watched, position: Position, { node, run, expression }: Testing): Promise<StepResult> {
  const part = (one: Test) => test(shell, position, { node, run, expression: one })
  if (expression.type === 'CondGroup') return part(expression.expression)
  if (expression.type === 'CondAnd' || expression.type === 'CondOr') {
    const left = await part(expression.left)
    const isDecided = (left.exitCode === 0) === (expression.type === 'CondOr') || left.exitCode > 1
    if (isDecided) return left
    const right = await part(expression.right)
    return joinedResults(left, right, right.exitCode)
  }
  const { operand } = expression.type === 'CondNot' ? expression : { operand: null }
  if (operand?.type === 'CondGroup' || operand?.type === 'CondNot') {
    const result = await part(operand)
    return result.exitCode > 1 ? result : { ...result, exitCode: 1 - result.exitCode }
  }
  const text = `[[ ${await testText(shell, run, wholeAsWritten(expression))} ]]`
  const shown = await line(shell, run, { node, text })
  return withLine(position, shown, () => run({ ...node, expression }))
}

async function testText(shell: Watched, run: Run, expression: Test): Promise<string> {
  const text = (word: Word) => operandText(shell, run, { word, quote: (one) => one })
  switch (expression.type) {
    case 'CondNot':
      return `! ${await testText(shell, run, expression.operand)}`
    case 'CondUnary':
      return `${expression.operator} ${await text(expression.operand)}`
    case 'CondWord':
      return `-n ${await text(expression.word)}`
    case 'CondBinary': {
      const { left, operator, right } = expression
      const isPattern = operator === '==' || operator === '!=' || operator === '='
      const quote = isPattern ? (one: string) => one.replace(/[\s\S]/gu, '\\$&') : (one: string) => one
      return `${await text(left)} ${operator} ${await operandText(shell, run, { word: right, quote })}`
    }
    default:
      return ''
  }
}

const CHANGES = /CommandSubstitution|ProcessSubstitution|ArithmeticExpansion|AssignDefault|ErrorIfUnset/

/** An operand whose repeated expansion would have side effects is shown as it was written. */
async function operandText(
  shell: Watched,
  run: Run,
  { word, quote }: { word: Word; quote: (text: string) => string },
): Promise<string> {
  const known = JSON.stringify(word.parts)
  if (CHANGES.test(known) || shell.ctx.state.options.nounset) {
    const name = { type: 'SimpleCommand' as const, assignments: [], name: word, args: [], redirections: [] }
    return commandAsText(name, shell.position?.textOf ?? (() => ''))
  }
  const text = await textOfParts(shell, word.parts, { run, quote })
  return typeof text === 'string' && text !== '' ? text : "''"
}

/** With the expanded PS4 before it. */
async function line(shell: Watched, run: Run, { node, text }: { node: Command; text: string }): Promise<string> {
  if ('line' in node && node.line !== undefined) shell.ctx.state.currentLine = node.line
  const plain = prefix(shell)
  const start = plain ?? (await expandedPrefix(shell, run))
  return text
    .split('\n')
    .map((one) => `${start}${one}\n`)
    .join('')
}

async function expandedPrefix(shell: Watched, run: Run): Promise<string> {
  const set = shell.ctx.state.env.get('PS4') ?? '+ '
  const [statement] = shell.position?.parse(`: "${set.replaceAll('"', '\\"')}"`).statements ?? []
  const [command] = statement?.pipelines[0]?.commands ?? []
  const [word] = command?.type === 'SimpleCommand' ? command.args : []
  const words = word === undefined ? [set] : await wordsAlone(shell, word, run)
  return Array.isArray(words) ? words.join(' ') : set
}

/** For a substitution, and for `eval` and `source`: the first character is repeated. */
export async function deeper<T>({ ctx }: Watched, run: () => Promise<T>): Promise<T> {
  const before = ctx.state.env.get('PS4')
  const [first = ''] = before ?? ''
  if (!ctx.state.options.xtrace || first === '') return run()
  const deep = first + before
  ctx.state.env.set('PS4', deep)
  try {
    return await run()
  } finally {
    if (ctx.state.env.get('PS4') === deep) ctx.state.env.set('PS4', before ?? '')
  }
}
