// `reduce` builds an array or object step by step. If a step only adds to the state and cannot keep it elsewhere, the
// state is changed in place: a copy for each step would take quadratic time.

import type { Node } from './ast.ts'
import { type Env, firstOf } from './machine.ts'
import { add } from './operators.ts'
import { type Owned, ownList } from './paths.ts'
import type { Compiler, Scope } from './scope.ts'
import { combined, combining, modified } from './update.ts'
import { isArray, isObject, type JqValue } from './value.ts'

type StepInPlace = (env: Env, state: JqValue, owned: Owned) => JqValue

/** Null if a step does more than that. */
export function foldInPlace(node: Node, compiler: Compiler, scope: Scope | null): StepInPlace | null {
  if (node.kind === 'pipe') {
    const [first, second] = [foldInPlace(node.left, compiler, scope), foldInPlace(node.right, compiler, scope)]
    return first && second ? (env, state, owned) => second(env, first(env, state, owned), owned) : null
  }
  if (node.kind === 'binary' && node.operator === '+') return addInPlace(node, compiler, scope)
  return node.kind === 'update' ? updateInPlace(node, compiler, scope) : null
}

function addInPlace(
  { left, right }: Extract<Node, { kind: 'binary' }>,
  compiler: Compiler,
  scope: Scope | null,
): StepInPlace | null {
  if (left.kind !== 'identity' || !hasOneResult(right) || !ignoresInput(right)) return null
  const added = compiler.filter(right, scope)
  return (env, state, owned) => {
    const more = firstOf(added, env, null)?.value ?? null
    if (isArray(state) && isArray(more)) {
      const list = ownList(state, owned)
      for (const item of more) list.push(item)
      return list
    }
    if (!isObject(state) || !isObject(more)) return add(state, more)
    const object = state instanceof Map && owned.has(state) ? state : new Map(state)
    owned.add(object)
    for (const [key, value] of more) object.set(key, value)
    return object
  }
}

function updateInPlace(
  { operator, left, right }: Extract<Node, { kind: 'update' }>,
  compiler: Compiler,
  scope: Scope | null,
): StepInPlace | null {
  const paths = compiler.filter(left, scope)
  if (operator === '|=') {
    const update = compiler.filter(right, scope)
    return (env, state, owned) => modified({ paths, update }, env, state, owned)
  }
  if (!hasOneResult(right) || !ignoresInput(right)) return null
  const [values, combine] = [compiler.filter(right, scope), combining(operator)]
  return (env, state, owned) => {
    const put = firstOf(values, env, null)?.value ?? null
    return combined({ paths, put, combine }, env, state, owned)
  }
}

/** A value made only from variables and constants cannot contain a part of the state. */
function ignoresInput(node: Node): boolean {
  switch (node.kind) {
    case 'literal':
    case 'variable':
      return true
    case 'index':
      return ignoresInput(node.target) && ignoresInput(node.key)
    case 'list':
      return node.body === null || ignoresInput(node.body)
    case 'object':
      return node.entries.every(({ key, value }) => ignoresInput(key) && ignoresInput(value))
    case 'binary':
      return ignoresInput(node.left) && ignoresInput(node.right)
    default:
      return false
  }
}

/** Exactly one for any input. */
function hasOneResult(node: Node): boolean {
  switch (node.kind) {
    case 'literal':
    case 'variable':
    case 'list':
      return true
    case 'index':
      return hasOneResult(node.target) && hasOneResult(node.key)
    case 'object':
      return node.entries.every(({ key, value }) => hasOneResult(key) && hasOneResult(value))
    case 'binary':
      return hasOneResult(node.left) && hasOneResult(node.right)
    default:
      return false
  }
}
