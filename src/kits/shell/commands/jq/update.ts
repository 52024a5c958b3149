// Assignments: `=`, `|=`, and those with an operator.

import type { Node } from './ast.ts'
import { type Env, type Filter, firstOf, lostPath, pathsOf, run } from './machine.ts'
import { OPERATORS, shortly } from './operators.ts'
import { deletePaths, getPath, type Owned, setPath } from './paths.ts'
import type { Compiler, Scope } from './scope.ts'
import { isTrue, type JqValue } from './value.ts'

type Update = Extract<Node, { kind: 'update' }>

export function compileUpdate({ operator, left, right }: Update, compiler: Compiler, scope: Scope | null): Filter {
  const [paths, values] = [compiler.filter(left, scope), compiler.filter(right, scope)]
  if (operator === '|=') {
    return (env, { value, path }, emit) => emit(modified({ paths, update: values }, env, value), lostPath(path))
  }
  const combine = combining(operator)
  return (env, { value, path }, emit) =>
    run(values, env, value, (put) => emit(combined({ paths, put, combine }, env, value), lostPath(path)))
}

type Combine = (there: JqValue, put: JqValue) => JqValue

/** The new value at the path. */
export function combining(operator: string): Combine {
  if (operator === '=') return (_, put) => put
  if (operator === '//=') return (there, put) => (isTrue(there) ? there : put)
  const operate = OPERATORS[operator.slice(0, -1)]
  if (!operate) throw new Error(`${operator} is no assignment`)
  return operate
}

type Combining = { paths: Filter; put: JqValue; combine: Combine }

export function combined(
  { paths, put, combine }: Combining,
  env: Env,
  value: JqValue,
  owned: Owned = new Set(),
): JqValue {
  return changedAt(paths, { env, value, owned }, (state, path, there) =>
    setPath(state, path, combine(there, put), owned),
  )
}

type UpdateState = { env: Env; value: JqValue; owned: Owned }
type Path = Parameters<typeof getPath>[1]

/** Applies one change after another, at each of the paths. */
function changedAt(
  paths: Filter,
  { env, value, owned }: UpdateState,
  change: (state: JqValue, path: Path, there: JqValue) => JqValue,
): JqValue {
  let state = value
  for (const path of pathsOf(paths, env, value, shortly)) {
    const there = getPath(state, path)
    // A value that was read may become a part of the new one: then it is no longer owned.
    if (typeof there === 'object' && there !== null && owned.has(there)) owned.clear()
    state = change(state, path, there)
  }
  return state
}

/** With the first result of the update at each path; without a result, the path is deleted, one by one like in jq 1.6. */
export function modified(
  { paths, update }: { paths: Filter; update: Filter },
  env: Env,
  value: JqValue,
  owned: Owned = new Set(),
): JqValue {
  return changedAt(paths, { env, value, owned }, (state, path, there) => {
    const put = firstOf(update, env, there)
    return put ? setPath(state, path, put.value, owned) : deletePaths(state, [path])
  })
}
