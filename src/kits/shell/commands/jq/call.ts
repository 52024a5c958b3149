// Calls of functions: parameters, functions of the program, built-in ones, and those of the prelude.

import type { Definition, Node } from './ast.ts'
import { nativeFilter } from './builtins.ts'
import { type Bound, bind, boundAt, type Emit, type Env, type Filter, type PathValue, run } from './machine.ts'
import { preludeDefinition } from './prelude.ts'
import { type Code, type Compiler, childScope, lookUp, type Scope, signature, undefinedName } from './scope.ts'

type Call = Extract<Node, { kind: 'call' }>

export function compileCall({ name, args }: Call, compiler: Compiler, scope: Scope | null): Filter {
  const found = lookUp(
    scope,
    (entry) =>
      entry.name === name &&
      ((entry.kind === 'closure' && args.length === 0) ||
        (entry.kind === 'function' && entry.code.params.length === args.length)),
  )
  if (found?.entry.kind === 'closure') return callParameter(found.hops)
  const filters = args.map((arg) => compiler.filter(arg, scope))
  const { steps } = compiler.machine
  if (found?.entry.kind === 'function') {
    const { code } = found.entry
    return (env, input, emit) => {
      steps.take()
      call({ code, base: envAt(env, found.hops), filters, env }, input, emit)
    }
  }
  const native = nativeFilter(signature(name, args.length), filters, compiler.machine)
  if (native) return native
  const definition = preludeDefinition(name, args.length)
  if (!definition) throw undefinedName(signature(name, args.length))
  const code = preludeCode(definition, compiler)
  return (env, input, emit) => {
    steps.take()
    call({ code, base: null, filters, env }, input, emit)
  }
}

function callParameter(hops: number): Filter {
  return (env, input, emit) => {
    const bound = boundAt(env, hops)
    if (typeof bound === 'string' || !('closure' in bound)) throw new Error('a parameter of the program is no filter')
    bound.closure.filter(bound.closure.env, input, emit)
  }
}

function envAt(env: Env, hops: number): Env {
  let at = env
  for (let i = 0; i < hops; i++) at = at?.parent ?? null
  return at
}

const compiled = new WeakMap<Compiler, Map<Definition, Code>>()

/** Compiled once for each program that uses it. A function of the prelude may call itself. */
function preludeCode(definition: Definition, compiler: Compiler): Code {
  const known = compiled.get(compiler) ?? new Map<Definition, Code>()
  compiled.set(compiler, known)
  const there = known.get(definition)
  if (there) return there
  const code: Code = { params: definition.params, body: null }
  known.set(definition, code)
  code.body = compiler.filter(definition.body, parameterScope(null, definition.params))
  return code
}

/** Every parameter can be called; those that are values are variables too. */
export function parameterScope(scope: Scope | null, params: Definition['params']): Scope | null {
  const called = params.reduce<Scope | null>((at, { name }) => childScope(at, { kind: 'closure', name }), scope)
  return params
    .filter(({ isValue }) => isValue)
    .reduce<Scope | null>((at, { name }) => childScope(at, { kind: 'variable', name }), called)
}

type Calling = { code: Code; base: Env; filters: readonly Filter[]; env: Env }

function call({ code, base, filters, env }: Calling, input: PathValue, emit: Emit): void {
  const { body, params } = code
  if (body === null) throw new Error('a function of the program has no body')
  const inner = filters.reduce<Env>((at, filter) => bind(at, { closure: { filter, env } }), base)
  const values = filters.filter((_, i) => params[i]?.isValue)
  if (values.length === 0) {
    body(inner, input, emit)
    return
  }
  const from = (at: number, bound: Env): void => {
    const next = values[at]
    if (!next) body(bound, input, emit)
    else run(next, env, input.value, (value) => from(at + 1, bind(bound, { value } satisfies Bound)))
  }
  from(0, inner)
}
