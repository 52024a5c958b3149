// Built-in functions that need more than values: they run their arguments, ask for paths, or read inputs.

import { toJson } from './json-write.ts'
import {
  BreakSignal,
  type Emit,
  type Env,
  type Filter,
  firstOf,
  Halt,
  keysTo,
  LOST,
  lostPath,
  type Machine,
  type PathValue,
  pathsOf,
  ROOT,
  run,
  step,
} from './machine.ts'
import { JqError, shortly, valueLabel } from './operators.ts'
import { getPath, piecesOf } from './paths.ts'
import { preludeNames } from './prelude.ts'
import { loopWith, recurseWith } from './recurse.ts'
import { isArray, isTrue, type JqValue } from './value.ts'
import { VALUE_FUNCTIONS } from './value-functions.ts'

type Call = { args: readonly Filter[]; env: Env; input: PathValue; emit: Emit; machine: Machine }

const FILTERS: Readonly<Record<string, (call: Call) => void>> = {
  'empty/0': () => undefined,
  'not/0': ({ input, emit }) => emit(!isTrue(input.value), lostPath(input.path)),
  'error/0': ({ input }) => raise(input.value),
  'error/1': ({ args: [f], env, input }) => each(f, env, input.value, raise),
  'select/1': ({ args: [f], env, input, emit }) =>
    each(f, env, input.value, (one) => isTrue(one) && emit(input.value, input.path)),
  'map/1': mapped,
  'recurse/0': ({ env, input, emit, machine }) => recurseWith(piecesOrNone, machine)(env, input, emit),
  'recurse/1': ({ args: [f], env, input, emit, machine }) => recurseWith(given(f), machine)(env, input, emit),
  'recurse/2': ({ args: [f, test], env, input, emit, machine }) =>
    recurseWith((inner, at, found) => {
      given(f)(inner, at, (value, path) => each(test, inner, value, (one) => isTrue(one) && found(value, path)))
    }, machine)(env, input, emit),
  'repeat/1': ({ args: [f], env, input, emit, machine }) => {
    for (;;) {
      machine.steps.take()
      given(f)(env, input, emit)
    }
  },
  'while/2': ({ args: [condition, next], env, input, emit, machine }) =>
    loopWith(
      { condition: given(condition), next: given(next), choose: (isMet) => (isMet ? 'both' : 'neither') },
      machine,
    )(env, input, emit),
  'until/2': ({ args: [condition, next], env, input, emit, machine }) =>
    loopWith(
      { condition: given(condition), next: given(next), choose: (isMet) => (isMet ? 'emit' : 'go on') },
      machine,
    )(env, input, emit),
  'range/1': ({ args: [to], env, input, emit, machine }) =>
    each(to, env, input.value, (end) => count({ from: 0, end, by: 1 }, { input, emit, machine })),
  'range/2': ({ args: [from, to], env, input, emit, machine }) =>
    each(from, env, input.value, (start) =>
      each(to, env, input.value, (end) => count({ from: start, end, by: 1 }, { input, emit, machine })),
    ),
  'range/3': ({ args: [from, to, by], env, input, emit, machine }) =>
    each(from, env, input.value, (start) =>
      each(to, env, input.value, (end) =>
        each(by, env, input.value, (width) => count({ from: start, end, by: width }, { input, emit, machine })),
      ),
    ),
  'first/1': ({ args: [f], env, input, emit }) => limited(1, { f: given(f), env, input, emit }),
  'limit/2': ({ args: [n, f], env, input, emit }) =>
    each(n, env, input.value, (most) => {
      if (typeof most !== 'number') throw new JqError(`${valueLabel(most)} and number (1) cannot be subtracted`)
      if (most < 0) given(f)(env, input, emit)
      // At least one result, like in jq 1.6.
      else limited(Math.max(1, Math.ceil(most)), { f: given(f), env, input, emit })
    }),
  'isempty/1': ({ args: [f], env, input, emit }) =>
    emit(firstOf(given(f), env, input.value) === null, lostPath(input.path)),
  'path/1': ({ args: [f], env, input, emit }) => {
    given(f)(env, { value: input.value, path: ROOT }, (value, path) => {
      if (path === undefined || path === LOST)
        throw new JqError(`Invalid path expression with result ${shortly(value)}`)
      emit(keysTo(path), lostPath(input.path))
    })
  },
  'del/1': ({ args: [f], env, input, emit }) =>
    emit(
      VALUE_FUNCTIONS['delpaths/1']?.(input.value, [pathsOf(given(f), env, input.value, shortly)], {}) ?? null,
      lostPath(input.path),
    ),
  'getpath/1': ({ args: [f], env, input, emit }) =>
    each(f, env, input.value, (keys) => {
      if (!isArray(keys)) throw new JqError('Path must be specified as an array')
      emit(getPathOrNull(input.value, keys), keys.reduce(step, input.path))
    }),
  'sort_by/1': keyed('_sort_by/1'),
  'group_by/1': keyed('_group_by/1'),
  'unique_by/1': keyed('_unique_by/1'),
  'min_by/1': keyed('_min_by/1'),
  'max_by/1': keyed('_max_by/1'),
  'input/0': ({ input, emit, machine }) => {
    const next = machine.nextInput()
    if (next === null) throw new JqError('break')
    emit(next.value, lostPath(input.path))
  },
  '_inputs/0': ({ input, emit, machine }) => {
    for (let next = machine.nextInput(); next !== null; next = machine.nextInput())
      emit(next.value, lostPath(input.path))
  },
  'input_filename/0': ({ input, emit, machine }) => emit(machine.inputName(), lostPath(input.path)),
  'input_line_number/0': ({ input, emit, machine }) => emit(machine.inputLine(), lostPath(input.path)),
  'env/0': ({ input, emit, machine }) => emit(new Map(Object.entries(machine.env)), lostPath(input.path)),
  'debug/0': ({ input, emit, machine }) => {
    machine.say(`${toJson(['DEBUG:', input.value])}\n`)
    emit(input.value, input.path)
  },
  'stderr/0': ({ input, emit, machine }) => {
    machine.say(toJson(input.value))
    emit(input.value, input.path)
  },
  'halt/0': () => {
    throw new Halt('', 0)
  },
  'halt_error/0': ({ input }) => stop(input.value, 5),
  'halt_error/1': ({ args: [f], env, input }) =>
    each(f, env, input.value, (code) => {
      if (typeof code !== 'number') throw new JqError('halt_error/1: number required')
      stop(input.value, code)
    }),
  'builtins/0': ({ input, emit }) =>
    emit(
      [...Object.keys(FILTERS), ...Object.keys(VALUE_FUNCTIONS), ...preludeNames()].filter(
        (name) => !name.startsWith('_'),
      ),
      lostPath(input.path),
    ),
}

/** The filter of a call, if there is a built-in function with that name and number of arguments. */
export function nativeFilter(name: string, args: readonly Filter[], machine: Machine): Filter | null {
  const own = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined
  if (own) {
    return (env, input, emit) => {
      machine.steps.take()
      own({ args, env, input, emit, machine })
    }
  }
  const ofValues = Object.hasOwn(VALUE_FUNCTIONS, name) ? VALUE_FUNCTIONS[name] : undefined
  if (!ofValues) return null
  return (env, { value, path }, emit) => {
    machine.steps.take()
    // The last argument changes slowest.
    const before = (count: number, values: readonly JqValue[]): void => {
      const arg = args[count - 1]
      if (arg) run(arg, env, value, (one) => before(count - 1, [one, ...values]))
      else emit(ofValues(value, values, machine.env), lostPath(path))
    }
    before(args.length, [])
  }
}

function given(filter: Filter | undefined): Filter {
  if (!filter) throw new Error('a built-in function has too few arguments')
  return filter
}

function each(filter: Filter | undefined, env: Env, value: JqValue, emit: (value: JqValue) => void): void {
  run(given(filter), env, value, emit)
}

/** An error with null is not an error in jq 1.6, and has no result either. */
function raise(value: JqValue): void {
  if (value !== null) throw new JqError(value)
}

const piecesOrNone: Filter = (_, { value, path }, emit) => {
  if (typeof value !== 'object' || value === null) return
  for (const [key, piece] of piecesOf(value)) emit(piece, step(path, key))
}

function getPathOrNull(value: JqValue, keys: readonly JqValue[]): JqValue {
  return value === null ? null : getPath(value, keys)
}

function mapped({ args: [f], env, input: { value, path }, emit, machine }: Call): void {
  const list: JqValue[] = []
  for (const [, piece] of piecesOf(value)) {
    machine.steps.take()
    each(f, env, piece, (one) => list.push(one))
  }
  emit(list, lostPath(path))
}

function keyed(name: string): (call: Call) => void {
  return ({ args: [f], env, input: { value, path }, emit }) => {
    if (!isArray(value)) throw new JqError(`Cannot index ${valueLabel(value)}`)
    const keys = value.map((item) => {
      const found: JqValue[] = []
      each(f, env, item, (one) => found.push(one))
      return found
    })
    emit(VALUE_FUNCTIONS[name]?.(value, [keys], {}) ?? null, lostPath(path))
  }
}

type Counting = { from: JqValue; end: JqValue; by: JqValue }

function count({ from, end, by }: Counting, { input, emit, machine }: Pick<Call, 'input' | 'emit' | 'machine'>): void {
  if (typeof from !== 'number' || typeof end !== 'number' || typeof by !== 'number') {
    throw new JqError('Range bounds must be numeric')
  }
  if (by === 0) {
    if (from < end) emit(from, lostPath(input.path))
    return
  }
  for (let at = from; by > 0 ? at < end : at > end; at += by) {
    machine.steps.take()
    emit(at, lostPath(input.path))
  }
}

type Limiting = { f: Filter; env: Env; input: PathValue; emit: Emit }

function limited(most: number, { f, env, input, emit }: Limiting): void {
  const label = {}
  let left = most
  try {
    f(env, input, (value, path) => {
      left--
      emit(value, path)
      if (left <= 0) throw new BreakSignal(label)
    })
  } catch (error) {
    if (!(error instanceof BreakSignal && error.label === label)) throw error
  }
}

function stop(value: JqValue, exitCode: number): never {
  throw new Halt(typeof value === 'string' ? value : value === null ? '' : `${toJson(value)}\n`, exitCode)
}
