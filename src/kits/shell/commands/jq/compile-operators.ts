// Compiles operators, conditions, `try` and strings to filters.

import type { Node } from './ast.ts'
import { formatted } from './formats.ts'
import { JqSyntaxError } from './lexer.ts'
import { type Filter, lostPath, run } from './machine.ts'
import { JqError, OPERATORS, valueLabel } from './operators.ts'
import type { Compiler, Scope } from './scope.ts'
import { isTrue } from './value.ts'

type OperatorNode<Kind extends Node['kind']> = Extract<Node, { kind: Kind }>
type Compile = (compiler: Compiler, scope: Scope | null) => Filter

export function compileLogic({ kind, left, right }: OperatorNode<'and' | 'or'>): Compile {
  return (compiler, scope) => {
    const [first, second] = [compiler.filter(left, scope), compiler.filter(right, scope)]
    return (env, { value, path }, emit) =>
      run(first, env, value, (one) => {
        if (isTrue(one) === (kind === 'or')) emit(kind === 'or', lostPath(path))
        else run(second, env, value, (other) => emit(isTrue(other), lostPath(path)))
      })
  }
}

export function compileAlternative({ left, right }: OperatorNode<'alternative'>): Compile {
  return (compiler, scope) => {
    const [first, second] = [compiler.filter(left, scope), compiler.filter(right, scope)]
    return (env, input, emit) => {
      let isFound = false
      first(env, input, (value, path) => {
        if (!isTrue(value)) return
        isFound = true
        emit(value, path)
      })
      if (!isFound) second(env, input, emit)
    }
  }
}

export function compileBinary({ operator, left, right }: OperatorNode<'binary'>): Compile {
  const operate = OPERATORS[operator]
  if (!operate) throw new JqSyntaxError(`syntax error, unexpected '${operator}'`)
  if (
    operator === '/' &&
    left.kind === 'literal' &&
    right.kind === 'literal' &&
    right.value === 0 &&
    typeof left.value === 'number'
  ) {
    if (left.value === 0)
      return () =>
        (_, { path }, emit) =>
          emit(Number.NaN, lostPath(path))
    throw new JqSyntaxError('Division by zero?')
  }
  return (compiler, scope) => {
    const [first, second] = [compiler.filter(left, scope), compiler.filter(right, scope)]
    return (env, { value, path }, emit) =>
      run(second, env, value, (b) => run(first, env, value, (a) => emit(operate(a, b), lostPath(path))))
  }
}

export function compileNegate({ body }: OperatorNode<'negate'>): Compile {
  return (compiler, scope) => {
    const inner = compiler.filter(body, scope)
    return (env, { value, path }, emit) =>
      run(inner, env, value, (one) => {
        if (typeof one !== 'number') throw new JqError(`${valueLabel(one)} cannot be negated`)
        emit(0 - one, lostPath(path))
      })
  }
}

export function compileIf({ condition, yes, no }: OperatorNode<'if'>): Compile {
  return (compiler, scope) => {
    const test = compiler.filter(condition, scope)
    const [then, otherwise] = [compiler.filter(yes, scope), compiler.filter(no, scope)]
    return (env, input, emit) =>
      run(test, env, input.value, (one) => (isTrue(one) ? then : otherwise)(env, input, emit))
  }
}

/** Like in jq 1.6, an error in the filters after the body is caught too. */
export function compileTry({ body, handler }: OperatorNode<'try'>): Compile {
  return (compiler, scope) => {
    const inner = compiler.filter(body, scope)
    const caught = handler === null ? null : compiler.filter(handler, scope)
    return (env, input, emit) => {
      try {
        inner(env, input, emit)
      } catch (error) {
        if (!(error instanceof JqError)) throw error
        caught?.(env, { value: error.value, path: lostPath(input.path) }, emit)
      }
    }
  }
}

export function compileText({ format, parts }: OperatorNode<'text'>): Compile {
  return (compiler, scope) => {
    const pieces = parts.map((part) => (typeof part === 'string' ? part : compiler.filter(part, scope)))
    return (env, { value: input, path }, emit) => {
      // The last part changes slowest.
      const before = (count: number, rest: string): void => {
        const piece = pieces[count - 1]
        if (piece === undefined) emit(rest, lostPath(path))
        else if (typeof piece === 'string') before(count - 1, piece + rest)
        else run(piece, env, input, (one) => before(count - 1, formatted(format || '@text', one) + rest))
      }
      before(pieces.length, '')
    }
  }
}
