// A command with texts in place of the words that are expanded here.

import { losslessBytes } from '../../lossless-text.ts'
import { elementsExpanded } from '../map-literals.ts'
import type { Command, Redirection, SimpleCommand } from '../shape.ts'
import { literal, type Word } from '../words-alone.ts'
import { fieldsOfWord } from './braces.ts'
import type { Expander } from './expander.ts'
import type { Purpose } from './expands.ts'
import { gradeOf, isHardNow } from './grades.ts'
import { parameterOf } from './parameters.ts'

type Assignment = SimpleCommand['assignments'][number]

const DECLARES: ReadonlySet<string> = new Set(['declare', 'typeset', 'local', 'export', 'readonly'])
const ASSIGNS = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/
const ARRAY = /^[A-Za-z_]\w*\+?=\(/

export async function expandedCommand(expander: Expander, node: Command): Promise<Command> {
  switch (node.type) {
    case 'SimpleCommand':
      return simple(expander, node)
    case 'For': {
      // The interpreter would split the arguments of `for x; do`.
      const given = node.words ?? (await parameterOf(expander, '@')).values.map(literal)
      const words = hasHard(expander, given) ? await allWords(expander, given) : given
      return redirected(expander, { ...node, words })
    }
    case 'FunctionDef':
      return node
    default:
      return redirected(expander, node)
  }
}

function hasHard(expander: Expander, words: readonly Word[], purpose: Purpose = 'fields'): boolean {
  return words.some((word) => isHard(expander, word, purpose))
}

function isHard({ state }: Expander, word: Word, purpose: Purpose): boolean {
  const grade = gradeOf(word, purpose)
  return grade === 'hard' || (grade === 'soft' && isHardNow(word, state))
}

async function simple(expander: Expander, node: SimpleCommand): Promise<SimpleCommand> {
  const words = node.name === null ? [] : [node.name, ...node.args]
  const purposes = purposesOf(node)
  let { name, args } = node
  // The name may expand to nothing (`$empty ls`) or to several words (`$run file`).
  const isNamed = node.name !== null && !['still', 'easy'].includes(gradeOf(node.name, 'fields'))
  if (isNamed || words.some((word, i) => isHard(expander, word, purposes[i] ?? 'fields'))) {
    const [first, ...others] = await allWords(expander, words, purposes)
    name = first ?? null
    args = others
  }
  const filled = name === node.name && args === node.args ? node : { ...node, name, args }
  const assignments: Assignment[] = []
  // Before a command, an array is a text.
  const isAlone = node.name === null
  for (const one of node.assignments) {
    assignments.push(one.array && !isAlone ? one : await assignment(expander, one))
  }
  const isSame = assignments.every((one, i) => one === node.assignments[i])
  return redirected(expander, isSame ? filled : { ...filled, assignments })
}

/** `declare x=$y` is an assignment, whose value is not split. */
function purposesOf({ name, args }: SimpleCommand): Purpose[] {
  const [part, ...others] = name?.parts ?? []
  if (part?.type !== 'Literal' || others.length > 0 || !DECLARES.has(part.value)) return []
  const purposes = args.map(({ parts: [first] }): Purpose => {
    return first?.type === 'Literal' && ASSIGNS.test(first.value) ? 'declaration' : 'fields'
  })
  return ['fields', ...purposes]
}

async function allWords(expander: Expander, words: readonly Word[], purposes: readonly Purpose[] = []) {
  const found: Word[] = []
  for (const [i, word] of words.entries()) {
    const purpose = purposes[i] ?? 'fields'
    const grade = gradeOf(word, purpose)
    const [first] = word.parts
    const isArray = first?.type === 'Literal' && ARRAY.test(first.value) && purpose === 'declaration'
    if (grade === 'still' || grade === 'foreign' || isArray) found.push(word)
    else if (purpose === 'fields') found.push(...(await fieldsOfWord(expander, word)).map(literal))
    else found.push(literal(await expander.text(word.parts, purpose)))
  }
  return found
}

async function assignment(expander: Expander, node: Assignment): Promise<Assignment> {
  keepFirst(expander, node.array && node.append ? `${node.name}[` : String(node.name))
  if (node.array) return elementsExpanded(expander, node)
  if (node.value === null || !isHard(expander, node.value, 'assignment')) return node
  return { ...node, value: literal(await expander.text(node.value.parts, 'assignment')) }
}

/** A plain variable becomes the first element of the array. */
function keepFirst({ state }: Expander, name: string): void {
  const base = /^([A-Za-z_]\w*)\[/.exec(name)?.[1]
  const value = base === undefined ? undefined : state.env.get(base)
  if (base === undefined || value === undefined || state.arrays?.has(base)) return
  if (state.readonlyVars?.has(base) || state.namerefs?.has(base)) return
  state.arrays ??= new Map()
  state.arrays.set(base, { kind: 'indexed', elements: new Map([['0', value]]) })
  state.env.delete(base)
}

async function redirected<Node extends Command>(expander: Expander, node: Node): Promise<Node> {
  const redirections: Redirection[] = []
  for (const one of node.redirections) redirections.push(await redirection(expander, one))
  return redirections.every((one, i) => one === node.redirections[i]) ? node : { ...node, redirections }
}

/** Its values may be bytes that are not valid text. */
function isToExpand(expander: Expander, word: Word, purpose: Purpose): boolean {
  return isHard(expander, word, purpose) || gradeOf(word, purpose) === 'easy'
}

/** A descriptor that no process substitution gets. */
const HELD_INPUT = '/dev/fd/9'

/** Bytes that are not valid text are passed to the command like a file. */
async function fromHeld({ shell }: Expander, node: Redirection, value: string): Promise<Redirection> {
  await shell.ctx.fs.writeFile(HELD_INPUT, losslessBytes(value))
  return { ...node, operator: '<', target: literal(HELD_INPUT) }
}

async function redirection(expander: Expander, node: Redirection): Promise<Redirection> {
  const { target, operator } = node
  if (target.type === 'HereDoc') {
    if (target.quoted || !isToExpand(expander, target.content, 'document')) return node
    const value = await expander.text(target.content.parts, 'document')
    if (!value.isWellFormed()) return fromHeld(expander, node, value)
    return { ...node, target: { ...target, content: { type: 'Word', parts: [{ type: 'SingleQuoted', value }] } } }
  }
  if (operator === '<<<') {
    if (!isToExpand(expander, target, 'text')) return node
    const value = await expander.text(target.parts, 'text')
    return value.isWellFormed() ? { ...node, target: literal(value) } : fromHeld(expander, node, `${value}\n`)
  }
  if (!isHard(expander, target, 'fields')) return node
  const [word, ...others] = await fieldsOfWord(expander, target)
  // If there is none or several, the interpreter reports an ambiguous redirect.
  return word === undefined || others.length > 0 ? node : { ...node, target: literal(word) }
}
