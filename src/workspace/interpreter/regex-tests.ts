// `[[ text =~ expression ]]`. The interpreter hands the expression to JavaScript's engine, where `.` stops at a line end, the
// first of several ways wins and not the longest, and a quoted letter is none. So such a test is taken apart: what is between
// `&&`, `||` and `!` runs one after the other, and expressions are matched as POSIX says.

import { RegexCache, SED_EXTENDED } from '../posix-regex/posix-regex.ts'
import { RegexError } from '../posix-regex/syntax.ts'
import { partsOf } from './heads.ts'
import { joined, type Watched } from './position.ts'
import type { Command, StepResult } from './shape.ts'
import { statementOf } from './trap-runs.ts'
import { type Run, textOfParts } from './words-alone.ts'

type Test = Extract<Command, { type: 'ConditionalCommand' }>
type Expression = Test['expression']
type Match = Extract<Expression, { type: 'CondBinary' }>

const NO_EXPRESSION = 2

export function hasRegex(node: Command): node is Test {
  if (node.type !== 'ConditionalCommand') return false
  for (const part of partsOf(node)) if (part.type === 'CondBinary' && part.operator === '=~') return true
  return false
}

export async function runTest(shell: Watched, node: Test, run: Run): Promise<StepResult> {
  if (node.redirections.length > 0) {
    const body = [statementOf({ ...node, redirections: [] })]
    return run({ type: 'Group', body, redirections: node.redirections })
  }
  return evaluate(shell, node.expression, { node, run })
}

type Within = { node: Test; run: Run }

async function evaluate(shell: Watched, expression: Expression, within: Within): Promise<StepResult> {
  const { node, run } = within
  switch (expression.type) {
    case 'CondGroup':
      return evaluate(shell, expression.expression, within)
    case 'CondNot': {
      const result = await evaluate(shell, expression.operand, within)
      return result.exitCode > 1 ? result : { ...result, exitCode: 1 - result.exitCode }
    }
    case 'CondAnd':
    case 'CondOr': {
      const left = await evaluate(shell, expression.left, within)
      if ((left.exitCode === 0) === (expression.type === 'CondOr')) return left
      const right = await evaluate(shell, expression.right, within)
      return joined(left, right, right.exitCode)
    }
    case 'CondBinary':
      return expression.operator === '=~' ? match(shell, expression, run) : run({ ...node, expression })
    default:
      return run({ ...node, expression })
  }
}

const EXPRESSIONS = new RegexCache(SED_EXTENDED)
const FOLDED = new RegexCache(SED_EXTENDED, { ignoreCase: true })
const SPECIAL = /[\\^$.[\]|()*+?{}]/g

async function match(shell: Watched, { left, right }: Match, run: Run): Promise<StepResult> {
  const text = await textOfParts(shell, left.parts, { run })
  if (typeof text !== 'string') return text
  const quote = (quoted: string) => quoted.replace(SPECIAL, '\\$&')
  const source = await textOfParts(shell, right.parts, { run, quote })
  if (typeof source !== 'string') return source
  if (isRefused(source)) return { stdout: '', stderr: '', exitCode: NO_EXPRESSION }
  const cache = shell.ctx.state.shoptOptions.nocasematch ? FOLDED : EXPRESSIONS
  try {
    const regex = cache.get(source)
    const isFound = regex.find(text)
    keepMatch(shell, text, isFound ? regex.slots : [])
    return { stdout: '', stderr: '', exitCode: isFound ? 0 : 1 }
  } catch (error) {
    if (!(error instanceof RegexError)) throw error
    return { stdout: '', stderr: '', exitCode: NO_EXPRESSION }
  }
}

/** A repetition of nothing, or one that is not closed: sed takes the sign for a letter there, and bash the whole for no expression. */
function isRefused(source: string): boolean {
  const plain = source.replace(/\\[\s\S]|\[\^?\]?(?:\[[:.=][\s\S]*?[:.=]\]|[^\]])*\]/g, 'x')
  return /(?:^|[(|^])(?:[*+?]|\{)/.test(plain) || /\{(?!\d+(?:,\d*)?\}|,\d+\})/.test(plain)
}

function keepMatch({ ctx }: Watched, text: string, slots: readonly number[]): void {
  const elements = new Map<string, string>()
  for (let i = 0; i < slots.length; i += 2) {
    const [start = -1, end = -1] = slots.slice(i, i + 2)
    elements.set(String(i / 2), start < 0 ? '' : text.slice(start, end))
  }
  ctx.state.arrays ??= new Map()
  ctx.state.arrays.set('BASH_REMATCH', { kind: 'indexed', elements })
}
