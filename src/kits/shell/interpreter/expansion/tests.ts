// `[[ … ]]`, split at `&&`, `||` and `!`: the parts run one after another. Words are texts there; patterns are matched
// like in bash, and expressions like in POSIX. The interpreter would use JavaScript's regular expressions, where `.`
// does not match a line end, the first alternative wins instead of the longest match, and quoted characters are not
// literal.

import { charText } from '../../byte-locale.ts'
import { PLAIN_EXTENDED, RegexCache } from '../../posix-regex/posix-regex.ts'
import { RegexError } from '../../posix-regex/syntax.ts'
import { joinedResults } from '../position.ts'
import type { Command, StepResult } from '../shape.ts'
import { statementOf } from '../trap-runs.ts'
import { literal, type Word } from '../words-alone.ts'
import type { Expander } from './expander.ts'
import { gradeOf } from './grades.ts'
import { inLocale } from './locale.ts'
import { parameterOf } from './parameters.ts'

type Test = Extract<Command, { type: 'ConditionalCommand' }>
type Expression = Test['expression']
type Binary = Extract<Expression, { type: 'CondBinary' }>

const NO_EXPRESSION = 2
const MATCHES: ReadonlySet<string> = new Set(['=', '==', '!=', '=~'])

const TAKEN_APART = new WeakMap<Expression, boolean>()

export function isTakenApart(node: Command): node is Test {
  return node.type === 'ConditionalCommand' && hasHard(node.expression)
}

function hasHard(expression: Expression): boolean {
  const known = TAKEN_APART.get(expression)
  if (known !== undefined) return known
  const found = wordsOf(expression).some((word) => gradeOf(word, 'text') === 'hard') || hasPattern(expression)
  TAKEN_APART.set(expression, found)
  return found
}

function wordsOf(expression: Expression): Word[] {
  switch (expression.type) {
    case 'CondBinary':
      return [expression.left, expression.right]
    case 'CondUnary':
      return [expression.operand]
    case 'CondWord':
      return [expression.word]
    default:
      return partsOf(expression).flatMap(wordsOf)
  }
}

function partsOf(expression: Expression): Expression[] {
  switch (expression.type) {
    case 'CondAnd':
    case 'CondOr':
      return [expression.left, expression.right]
    case 'CondNot':
      return [expression.operand]
    case 'CondGroup':
      return [expression.expression]
    default:
      return []
  }
}

/** The interpreter compares two plain texts. It also considers any array as set. */
function hasPattern(expression: Expression): boolean {
  if (expression.type === 'CondUnary') return expression.operator === '-v'
  if (expression.type !== 'CondBinary') return partsOf(expression).some(hasPattern)
  if (!MATCHES.has(expression.operator)) return false
  return expression.operator === '=~' || !expression.right.parts.every(isPlain)
}

const isPlain = (part: Word['parts'][number]): boolean =>
  part.type === 'SingleQuoted' || (part.type === 'Literal' && /^[\w .:/-]*$/.test(part.value))

export async function runTest(expander: Expander, node: Test): Promise<StepResult> {
  if (node.redirections.length > 0) {
    const body = [statementOf({ ...node, redirections: [] })]
    return expander.run({ type: 'Group', body, redirections: node.redirections })
  }
  const result = await evaluate(expander, node, node.expression)
  return { ...result, stderr: expander.stderr + result.stderr }
}

async function evaluate(expander: Expander, node: Test, expression: Expression): Promise<StepResult> {
  switch (expression.type) {
    case 'CondGroup':
      return evaluate(expander, node, expression.expression)
    case 'CondNot': {
      const result = await evaluate(expander, node, expression.operand)
      return result.exitCode > 1 ? result : { ...result, exitCode: 1 - result.exitCode }
    }
    case 'CondAnd':
    case 'CondOr': {
      const left = await evaluate(expander, node, expression.left)
      if ((left.exitCode === 0) === (expression.type === 'CondOr')) return left
      const right = await evaluate(expander, node, expression.right)
      return joinedResults(left, right, right.exitCode)
    }
    case 'CondBinary':
      if (MATCHES.has(expression.operator)) return matched(expander, expression)
      if (/^-[engl]/.test(expression.operator) && !/^-(?:nt|ef)$/.test(expression.operator)) break
      return expander.run({
        ...node,
        expression: {
          ...expression,
          left: await still(expander, expression.left),
          right: await still(expander, expression.right),
        },
      })
    case 'CondUnary':
      if (expression.operator === '-v')
        return ended(await isSet(expander, await expander.text(expression.operand.parts)))
      return expander.run({
        ...node,
        expression: { ...expression, operand: await still(expander, expression.operand) },
      })
    case 'CondWord':
      return ended((await expander.text(expression.word.parts)) !== '')
  }
  return expander.run({ ...node, expression })
}

async function isSet(expander: Expander, name: string): Promise<boolean> {
  if (!/^(?:[A-Za-z_]\w*(?:\[[\s\S]+\])?|\d+)$/.test(name)) return false
  return (await parameterOf(expander, name)).values.length > 0
}

/** Words that the interpreter expands correctly are left to it. */
async function still(expander: Expander, word: Word): Promise<Word> {
  const grade = gradeOf(word, 'text')
  return grade === 'hard' || grade === 'soft' ? literal(await expander.text(word.parts)) : word
}

const ended = (holds: boolean): StepResult => ({ stdout: '', stderr: '', exitCode: holds ? 0 : 1 })

async function matched(expander: Expander, { operator, left, right }: Binary): Promise<StepResult> {
  const text = await expander.text(left.parts)
  if (operator === '=~') return matchedRegex(expander, text, right)
  // Groups are always recognized there, whatever the options.
  return ended((await expander.pattern(right, { hasGroups: true })).matches(text) === (operator !== '!='))
}

const EXPRESSIONS = new RegexCache(PLAIN_EXTENDED)
const FOLDED = new RegexCache(PLAIN_EXTENDED, { ignoreCase: true })
const SPECIAL = /[\\^$.[\]|()*+?{}]/g

async function matchedRegex(expander: Expander, given: string, right: Word): Promise<StepResult> {
  const text = inLocale(expander.state, given)
  const pieces = await expander.pieces(right.parts, 'expression')
  const source = pieces.map((piece) => (piece.isQuoted ? piece.text.replace(SPECIAL, '\\$&') : piece.text)).join('')
  const cache = expander.state.shoptOptions.nocasematch ? FOLDED : EXPRESSIONS
  try {
    const regex = cache.get(inLocale(expander.state, source))
    const isFound = regex.find(text)
    keepMatch(expander, text, isFound ? regex.slots : [])
    return ended(isFound)
  } catch (error) {
    if (!(error instanceof RegexError)) throw error
    return { stdout: '', stderr: '', exitCode: NO_EXPRESSION }
  }
}

function keepMatch({ state }: Expander, text: string, slots: readonly number[]): void {
  const elements = new Map<string, string>()
  for (let i = 0; i < slots.length; i += 2) {
    const [start = -1, end = -1] = slots.slice(i, i + 2)
    elements.set(String(i / 2), start < 0 ? '' : charText(text.slice(start, end)))
  }
  state.arrays ??= new Map()
  state.arrays.set('BASH_REMATCH', { kind: 'indexed', elements })
}
