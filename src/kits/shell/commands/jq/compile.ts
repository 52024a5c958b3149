// Compiles the syntax tree of a program to a filter.

import type { Node } from './ast.ts'
import { compileCall, parameterScope } from './call.ts'
import {
  compileAlternative,
  compileBinary,
  compileIf,
  compileLogic,
  compileNegate,
  compileText,
  compileTry,
} from './compile-operators.ts'
import { compileBind, compileFold } from './fold.ts'
import { formatted } from './formats.ts'
import {
  BreakSignal,
  bind,
  boundAt,
  type Filter,
  LOST,
  lostPath,
  type Machine,
  type Path,
  run,
  step,
  valueBound,
} from './machine.ts'
import { JqError, shortly, valueLabel } from './operators.ts'
import { piecesOf, valueAt } from './paths.ts'
import { recurseWith } from './recurse.ts'
import { type Compiler, childScope, lookUp, type Scope, undefinedName } from './scope.ts'
import { compileUpdate } from './update.ts'
import { type JqValue, typeOf } from './value.ts'

type NodeOf<Kind extends Node['kind']> = Extract<Node, { kind: Kind }>
type Compile = (compiler: Compiler, scope: Scope | null) => Filter

/** The filter of a node. */
function compile(node: Node): Compile {
  switch (node.kind) {
    case 'identity':
      return () => (_, input, emit) => emit(input.value, input.path)
    case 'literal':
      return () =>
        (_, { path }, emit) =>
          emit(node.value, lostPath(path))
    case 'recurse':
      return ({ machine }) =>
        (_, input, emit) =>
          recurseWith(piecesIfAny, machine)(null, input, emit)
    case 'pipe':
      return compilePipe(node)
    case 'comma':
      return compileComma(node)
    case 'index':
      return compileIndex(node)
    case 'slice':
      return compileSlice(node)
    case 'iterate':
      return compileIterate(node)
    case 'list':
      return compileList(node)
    case 'object':
      return compileObject(node)
    default:
      return compileMore(node)
  }
}

type OtherNode = Exclude<
  Node,
  { kind: 'identity' | 'literal' | 'recurse' | 'pipe' | 'comma' | 'index' | 'slice' | 'iterate' | 'list' | 'object' }
>

function compileMore(node: OtherNode): Compile {
  switch (node.kind) {
    case 'and':
    case 'or':
      return compileLogic(node)
    case 'alternative':
      return compileAlternative(node)
    case 'binary':
      return compileBinary(node)
    case 'negate':
      return compileNegate(node)
    case 'if':
      return compileIf(node)
    case 'try':
      return compileTry(node)
    case 'text':
      return compileText(node)
    case 'format':
      return () =>
        (_, { value, path }, emit) =>
          emit(formatted(node.name, value), lostPath(path))
    case 'variable':
      return compileVariable(node)
    case 'label':
      return compileLabel(node)
    case 'break':
      return compileBreak(node)
    case 'define':
      return compileDefine(node)
    case 'call':
      return (compiler, scope) => compileCall(node, compiler, scope)
    case 'update':
      return (compiler, scope) => compileUpdate(node, compiler, scope)
    case 'bind':
      return (compiler, scope) => compileBind(node, compiler, scope)
    case 'reduce':
    case 'foreach':
      return (compiler, scope) => compileFold(node, compiler, scope)
  }
}

const piecesIfAny: Filter = (_, { value, path }, emit) => {
  if (typeof value !== 'object' || value === null) return
  for (const [key, piece] of piecesOf(value)) emit(piece, step(path, key))
}

function compilePipe({ left, right }: NodeOf<'pipe'>): Compile {
  return (compiler, scope) => {
    const [first, second] = [compiler.filter(left, scope), compiler.filter(right, scope)]
    return (env, input, emit) => first(env, input, (value, path) => second(env, { value, path }, emit))
  }
}

function compileComma({ left, right }: NodeOf<'comma'>): Compile {
  return (compiler, scope) => {
    const [first, second] = [compiler.filter(left, scope), compiler.filter(right, scope)]
    return (env, input, emit) => {
      first(env, input, emit)
      second(env, input, emit)
    }
  }
}

/** A value that is no longer a part of the input has no path. */
function assertOnWay(path: Path, value: JqValue, what: string): void {
  if (path === LOST) throw new JqError(`Invalid path expression ${what} ${shortly(value)}`)
}

function compileIndex({ target, key, isOptional }: NodeOf<'index'>): Compile {
  return (compiler, scope) => {
    const [container, keys] = [compiler.filter(target, scope), compiler.filter(key, scope)]
    return (env, input, emit) =>
      run(keys, env, input.value, (at) =>
        container(env, input, (value, path) => {
          assertOnWay(path, value, `near attempt to access element ${shortly(at)} of`)
          const found = attempt(() => valueAt(value, at), isOptional)
          if (found !== undefined) emit(found, step(path, at))
        }),
      )
  }
}

function compileSlice({ target, from, to, isOptional }: NodeOf<'slice'>): Compile {
  const bound = (node: Node | null): Node => node ?? { kind: 'literal', value: null }
  return (compiler, scope) => {
    const [container, starts, ends] = [target, bound(from), bound(to)].map((node) => compiler.filter(node, scope))
    if (!container || !starts || !ends) throw new Error('a slice has three parts')
    return (env, input, emit) =>
      run(ends, env, input.value, (end) =>
        run(starts, env, input.value, (start) =>
          container(env, input, (value, path) => {
            const key = new Map([
              ['start', start],
              ['end', end],
            ])
            assertOnWay(path, value, `near attempt to access element ${shortly(key)} of`)
            const found = attempt(() => sliceOf(value, key), isOptional)
            if (found !== undefined) emit(found, step(path, key))
          }),
        ),
      )
  }
}

/** Undefined for an error that is ignored. */
function attempt(look: () => JqValue, isOptional: true | undefined): JqValue | undefined {
  if (!isOptional) return look()
  try {
    return look()
  } catch (error) {
    if (error instanceof JqError) return undefined
    throw error
  }
}

function sliceOf(value: JqValue, key: ReadonlyMap<string, JqValue>): JqValue {
  if (value !== null && typeof value !== 'string' && !Array.isArray(value)) {
    throw new JqError(`Cannot index ${typeOf(value)} with object`)
  }
  return valueAt(value, key)
}

function compileIterate({ target, isOptional }: NodeOf<'iterate'>): Compile {
  return (compiler, scope) => {
    const container = compiler.filter(target, scope)
    const { steps } = compiler.machine
    return (env, input, emit) =>
      container(env, input, (value, path) => {
        assertOnWay(path, value, 'near attempt to iterate through')
        if (isOptional && (value === null || typeof value !== 'object')) return
        for (const [key, piece] of piecesOf(value)) {
          steps.take()
          emit(piece, path === undefined ? undefined : step(path, key))
        }
      })
  }
}

function compileList({ body }: NodeOf<'list'>): Compile {
  return (compiler, scope) => {
    if (body === null) return (_, { path }, emit) => emit([], lostPath(path))
    const items = compiler.filter(body, scope)
    const { steps } = compiler.machine
    return (env, { value, path }, emit) => {
      const list: JqValue[] = []
      run(items, env, value, (item) => {
        steps.take()
        list.push(item)
      })
      emit(list, lostPath(path))
    }
  }
}

function compileObject({ entries }: NodeOf<'object'>): Compile {
  return (compiler, scope) => {
    const parts = entries.map(({ key, value }) => ({
      keys: compiler.filter(key, scope),
      values: compiler.filter(value, scope),
    }))
    return (env, { value: input, path }, emit) => {
      const from = (at: number, entriesSoFar: readonly (readonly [string, JqValue])[]): void => {
        const part = parts[at]
        if (!part) {
          emit(new Map(entriesSoFar), lostPath(path))
          return
        }
        run(part.keys, env, input, (key) => {
          if (typeof key !== 'string') throw new JqError(`Cannot use ${valueLabel(key)} as object key`)
          run(part.values, env, input, (value) => from(at + 1, [...entriesSoFar, [key, value]]))
        })
      }
      from(0, [])
    }
  }
}

function compileVariable({ name }: NodeOf<'variable'>): Compile {
  return ({ machine }, scope) => {
    const found = lookUp(scope, (entry) => entry.kind === 'variable' && entry.name === name)
    if (found) return (env, { path }, emit) => emit(valueBound(env, found.hops), lostPath(path))
    const value = name === 'ENV' ? new Map(Object.entries(machine.env)) : machine.globals.get(name)
    if (value === undefined) throw undefinedName(`$${name}`)
    return (_, { path }, emit) => emit(value, lostPath(path))
  }
}

function compileLabel({ name, body }: NodeOf<'label'>): Compile {
  return (compiler, scope) => {
    const inner = compiler.filter(body, childScope(scope, { kind: 'label', name }))
    return (env, input, emit) => {
      const label = {}
      try {
        inner(bind(env, { label }), input, emit)
      } catch (error) {
        if (!(error instanceof BreakSignal && error.label === label)) throw error
      }
    }
  }
}

function compileBreak({ name }: NodeOf<'break'>): Compile {
  return (_, scope) => {
    const found = lookUp(scope, (entry) => entry.kind === 'label' && entry.name === name)
    if (!found) throw undefinedName(`$*label-${name}`)
    return (env) => {
      const bound = boundAt(env, found.hops)
      throw new BreakSignal(typeof bound === 'object' && 'label' in bound ? bound.label : {})
    }
  }
}

function compileDefine({ definition, body }: NodeOf<'define'>): Compile {
  return (compiler, scope) => {
    const code = { params: definition.params, body: null as Filter | null }
    const inner = childScope(scope, { kind: 'function', name: definition.name, code })
    code.body = compiler.filter(definition.body, parameterScope(inner, definition.params))
    const rest = compiler.filter(body, inner)
    return (env, input, emit) => rest(bind(env, 'function'), input, emit)
  }
}

export function compilerFor(machine: Machine): Compiler {
  const compiler: Compiler = { machine, filter: (node, scope) => compile(node)(compiler, scope) }
  return compiler
}
