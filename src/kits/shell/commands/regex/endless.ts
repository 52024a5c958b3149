// Detects patterns with exponential time in a backtracking engine. Inside a repetition, each character must leave only
// one way to continue; then the number of attempts is limited by the length of the text.

import { compile, isRegular, type Program } from './program.ts'
import { type Ranges, type RegexNode, someNode } from './syntax.ts'

/** Repetitions with fewer iterations are fast enough. */
const FEW_ROUNDS = 8
const MAX_SETS_COMPARED = 400

export function couldBeEndless(node: RegexNode): boolean {
  return someNode(node, (one) => {
    if (one.kind !== 'repeat' || one.max <= FEW_ROUNDS || one.node.kind === 'set') return false
    if (!someNode(one.node, isOpen)) return false
    return !isRegular(one) || !hasOneWay(compile({ ...one, min: 0, max: Number.POSITIVE_INFINITY }, false))
  })
}

function isOpen(node: RegexNode): boolean {
  return (node.kind === 'repeat' && node.max > node.min) || node.kind === 'choice'
}

function hasOneWay({ steps, start }: Program): boolean {
  const targets = new Set([start, ...steps.flatMap((step) => (step.kind === 'set' ? [step.next] : []))])
  return [...targets].every((target) => {
    const sets = setsFrom(steps, target)
    if (sets.length > MAX_SETS_COMPARED) return false
    return sets.every((set, i) => sets.slice(i + 1).every((other) => areApart(set, other)))
  })
}

/** The possible next characters, one set for each way to continue. */
function setsFrom(steps: Program['steps'], start: number): Ranges[] {
  const seen = new Set<number>()
  const open = [start]
  const sets: Ranges[] = []
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (seen.has(at)) continue
    seen.add(at)
    const step = steps[at]
    if (step?.kind === 'set') sets.push(step.ranges)
    else if (step?.kind === 'split') open.push(step.first, step.second)
    else if (step?.kind === 'assert') open.push(step.next)
  }
  return sets
}

function areApart(a: Ranges, b: Ranges): boolean {
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if ((a[i + 1] ?? 0) < (b[j] ?? 0)) i += 2
    else if ((b[j + 1] ?? 0) < (a[i] ?? 0)) j += 2
    else return false
  }
  return true
}
