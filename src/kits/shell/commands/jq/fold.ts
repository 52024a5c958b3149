// Variables: `as`, `reduce` and `foreach`, and destructuring patterns.

import type { Node, Pattern } from './ast.ts'
import { foldInPlace } from './fold-in-place.ts'
import { type Bound, bind, type Env, type Filter, LOST, type Path, run } from './machine.ts'
import { JqError } from './operators.ts'
import { valueAt } from './paths.ts'
import { type Compiler, childScope, type Scope } from './scope.ts'
import { isArray, isObject, type JqValue, typeOf } from './value.ts'

type Values = ReadonlyMap<string, JqValue>
/** Finds the values of a pattern's variables, once for each result of its keys. */
type Matcher = (env: Env, value: JqValue, found: (values: Values) => void) => void

function namesIn(pattern: Pattern): string[] {
  if (pattern.kind === 'name') return [pattern.name]
  if (pattern.kind === 'items') return pattern.items.flatMap(namesIn)
  return pattern.entries.flatMap(({ variable, value }) => [
    ...(variable === null ? [] : [variable]),
    ...(value === null ? [] : namesIn(value)),
  ])
}

function variablesIn(scope: Scope | null, names: readonly string[]): Scope | null {
  return names.reduce<Scope | null>((at, name) => childScope(at, { kind: 'variable', name }), scope)
}

/** Variables that are not in the pattern are null. */
function bindAll(env: Env, names: readonly string[], values: Values): Env {
  return names.reduce<Env>((at, name) => bind(at, { value: values.get(name) ?? null } satisfies Bound), env)
}

function matcherOf(pattern: Pattern, compiler: Compiler, scope: Scope | null): Matcher {
  if (pattern.kind === 'name') return (_, value, found) => found(new Map([[pattern.name, value]]))
  const parts: Matcher[] =
    pattern.kind === 'items'
      ? pattern.items.map((item, i) => itemMatcher(i, matcherOf(item, compiler, scope)))
      : pattern.entries.map((entry) => entryMatcher(entry, compiler, scope))
  return (env, value, found) => {
    const from = (at: number, values: Values): void => {
      const part = parts[at]
      if (part) part(env, value, (more) => from(at + 1, new Map([...values, ...more])))
      else found(values)
    }
    from(0, new Map())
  }
}

function itemMatcher(at: number, inner: Matcher): Matcher {
  return (env, value, found) => {
    if (value !== null && !isArray(value)) throw new JqError(`Cannot index ${typeOf(value)} with number`)
    inner(env, valueAt(value, at), found)
  }
}

type Entry = Extract<Pattern, { kind: 'entries' }>['entries'][number]

function entryMatcher({ key, variable, value: pattern }: Entry, compiler: Compiler, scope: Scope | null): Matcher {
  const keys = compiler.filter(key, scope)
  const inner = pattern === null ? null : matcherOf(pattern, compiler, scope)
  return (env, value, found) =>
    run(keys, env, value, (name) => {
      if (typeof name !== 'string') throw new JqError(`Cannot index ${typeOf(value)} with ${typeOf(name)}`)
      if (value !== null && !isObject(value)) throw new JqError(`Cannot index ${typeOf(value)} with string "${name}"`)
      const piece = valueAt(value, name)
      const own: Values = new Map(variable === null ? [] : [[variable, piece]])
      if (inner) inner(env, piece, (more) => found(new Map([...own, ...more])))
      else found(own)
    })
}

export function compileBind(
  { source, patterns, body }: Extract<Node, { kind: 'bind' }>,
  compiler: Compiler,
  scope: Scope | null,
): Filter {
  const names = [...new Set(patterns.flatMap(namesIn))]
  const sources = compiler.filter(source, scope)
  const matchers = patterns.map((pattern) => matcherOf(pattern, compiler, scope))
  const inner = compiler.filter(body, variablesIn(scope, names))
  return (env, input, emit) =>
    run(sources, env, input.value, (value) => {
      const attempt = (at: number): void => {
        try {
          matchers[at]?.(env, value, (values) => inner(bindAll(env, names, values), input, emit))
        } catch (error) {
          // The next pattern is tried; the error of the last one is used.
          if (!(error instanceof JqError) || at + 1 >= matchers.length) throw error
          attempt(at + 1)
        }
      }
      attempt(0)
    })
}

type Fold = Extract<Node, { kind: 'reduce' | 'foreach' }>

export function compileFold(node: Fold, compiler: Compiler, scope: Scope | null): Filter {
  const names = [...new Set(namesIn(node.pattern))]
  const sources = compiler.filter(node.source, scope)
  const matcher = matcherOf(node.pattern, compiler, scope)
  const start = compiler.filter(node.start, scope)
  const inner = variablesIn(scope, names)
  const update = node.kind === 'reduce' ? foldInPlace(node.update, compiler, inner) : null
  const plain = compiler.filter(node.update, inner)
  const extract = node.kind === 'foreach' && node.extract !== null ? compiler.filter(node.extract, inner) : null
  const { steps } = compiler.machine
  return (env, input, emit) =>
    start(env, input, (first, firstPath) => {
      let state: { value: JqValue; path: Path } = { value: first, path: firstPath }
      const owned = new Set<object>()
      run(sources, env, input.value, (item) =>
        matcher(env, item, (values) => {
          steps.take()
          const within = bindAll(env, names, values)
          if (update) {
            state = { value: update(within, state.value, owned), path: state.path && LOST }
            return
          }
          const before = state
          state = { value: null, path: before.path && LOST }
          plain(within, before, (value, path) => {
            state = { value, path }
            if (node.kind !== 'foreach') return
            if (extract) extract(within, state, emit)
            else emit(value, path)
          })
        }),
      )
      if (node.kind === 'reduce') emit(state.value, state.path)
    })
}
