// A command as it is handed to the interpreter: names in place of references to them, and worked out what the interpreter would
// work out otherwise than bash.

import { namesByVariable, withWordsOfName } from './command-words.ts'
import { type Node, partsOf, withParts } from './heads.ts'
import { isKeyed, keyedValue } from './map-keys.ts'
import { isLiteralOfKeys, keyedLiteral } from './map-literals.ts'
import { withTargets } from './namerefs.ts'
import { joined, type Position, type Watched } from './position.ts'
import { hasRegex, runTest } from './regex-tests.ts'
import { mayHaveMatch, replaced, replacementOf } from './replacements.ts'
import type { Command, SimpleCommand, StepResult } from './shape.ts'
import { isOn } from './shell-options.ts'
import { Temporaries } from './temporaries.ts'
import { type Filling, transformed, transformOf } from './transforms.ts'
import type { Run } from './words-alone.ts'

/** Commands with something that is worked out here. */
const MARKED = new WeakSet<object>()

/** To be called for each node of a script. */
export function markPrepared(node: object): void {
  if (!('type' in node) || !COMMANDS.has(String(node.type))) return
  const command = node as Command
  const isNamed = command.type === 'SimpleCommand' && namesByVariable(command)
  if (isNamed || hasRegex(command)) MARKED.add(node)
  for (const part of partsOf(command)) {
    if (!isWorkedOut(part)) continue
    MARKED.add(node)
    return
  }
}

const COMMANDS: ReadonlySet<string> = new Set([
  ...['SimpleCommand', 'For', 'CStyleFor', 'Case', 'ArithmeticCommand', 'ConditionalCommand'],
  ...['If', 'While', 'Until', 'Group', 'Subshell'],
])

function isWorkedOut(part: Node): boolean {
  const replacement = replacementOf(part)
  if (transformOf(part) !== null || isLiteralOfKeys(part) || isKeyed(part)) return true
  return replacement !== null && mayHaveMatch(replacement)
}

type Step = { node: Command; run: Run }

export async function runPrepared(shell: Watched, position: Position, { node, run }: Step): Promise<StepResult> {
  const named = withTargets(shell.ctx.state, node)
  if (!MARKED.has(node)) return run(named)
  if (named.type === 'SimpleCommand' && named.name === null && named.assignments.length > 1) {
    return oneByOne(shell, position, { node: named, run })
  }
  return runFilled(shell, position, { node: named, run })
}

async function runFilled(shell: Watched, position: Position, { node, run }: Step): Promise<StepResult> {
  const temporaries = new Temporaries(shell.ctx.state)
  try {
    const worked = await withWorkedOut(node, { shell, position, run, temporaries })
    if ('exitCode' in worked) return worked
    const filled = worked.type === 'SimpleCommand' ? await withWordsOfName(worked, { shell, run }) : worked
    if ('exitCode' in filled) return filled
    return hasRegex(filled) ? await runTest(shell, filled, run) : await run(filled)
  } finally {
    temporaries.clear()
  }
}

/** Each sees what those before it have assigned; the status is that of the last substitution. */
async function oneByOne(
  shell: Watched,
  position: Position,
  { node, run }: { node: SimpleCommand; run: Run },
): Promise<StepResult> {
  let result: StepResult = { stdout: '', stderr: '', exitCode: 0 }
  for (const assignment of node.assignments) {
    const one: SimpleCommand = { ...node, assignments: [assignment] }
    const next = await runFilled(shell, position, { node: one, run })
    const substitutes = [...partsOf(one)].some(({ type }) => type === 'CommandSubstitution')
    result = joined(result, next, substitutes || next.exitCode !== 0 ? next.exitCode : result.exitCode)
  }
  return result
}

async function withWorkedOut(node: Command, filling: Filling): Promise<Command | StepResult> {
  const others = new Map<Node, Node>()
  for (const part of partsOf(node)) {
    const other = await workedOut(part, filling)
    if (other === null) continue
    if ('exitCode' in other) return other as unknown as StepResult
    others.set(part, other as Node)
  }
  return others.size === 0 ? node : withParts(node, (part) => others.get(part) ?? part)
}

async function workedOut(part: Node, filling: Filling): Promise<Node | StepResult | null> {
  if (transformOf(part) !== null) return transformed(part, filling)
  if (isLiteralOfKeys(part)) return keyedLiteral(part, filling)
  if (isKeyed(part)) return keyedValue(part, filling)
  const replacement = replacementOf(part)
  if (replacement === null || !mayHaveMatch(replacement)) return null
  return isOn(filling.position, 'patsub_replacement') ? replaced(part, filling) : null
}
