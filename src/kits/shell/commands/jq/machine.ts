// The runtime of a compiled program: values with their paths, bound names, and a step counter. A filter passes each
// result on at once; the following filters run before it continues.

import { JqError } from './operators.ts'
import type { JqValue } from './value.ts'

/** The path of a value, last step first; `LOST` for a value that is no longer a part of the path's start. */
export type PathStep = { readonly parent: PathStep | null; readonly key: JqValue }
export const ROOT: PathStep = { parent: null, key: null }
export const LOST: PathStep = { parent: null, key: null }
/** Absent if paths are not requested. */
export type Path = PathStep | undefined

export type Emit = (value: JqValue, path: Path) => void
export type Filter = (env: Env, input: PathValue, emit: Emit) => void
export type PathValue = { readonly value: JqValue; readonly path: Path }

/** The bindings, the newest first. The position of a name is known at compile time. */
export type Env = { readonly bound: Bound; readonly parent: Env } | null
export type Closure = { readonly filter: Filter; readonly env: Env }
export type Bound = { value: JqValue } | { closure: Closure } | { label: object } | 'function'

export class BreakSignal {
  readonly label: object

  constructor(label: object) {
    this.label = label
  }
}

/** Ends the program at once; nothing catches it. */
export class Halt extends Error {
  override readonly name = 'Halt'
  readonly text: string
  readonly exitCode: number

  constructor(text: string, exitCode: number) {
    super('halt')
    this.text = text
    this.exitCode = exitCode
  }
}

/** The error if a program exceeds its limits. */
export class TooMuch extends Error {
  override readonly name = 'TooMuch'
}

/** A program cannot be paused between two results, so it is stopped well before others would have waited too long. */
const MAX_STEPS = 40_000_000
const MAX_MS = 3000
const WORN_STEPS = 20_000
const WORN_MS = 12
const CLOCK_EVERY_STEPS = 4096

/** The inputs and limits of a program. */
export interface Machine {
  readonly globals: ReadonlyMap<string, JqValue>
  readonly env: Readonly<Record<string, string>>
  /** The next input, or null if there is none. */
  nextInput(): { value: JqValue } | null
  inputName(): JqValue
  inputLine(): number
  /** Writes to the standard error stream. */
  say(text: string): void
  readonly steps: Steps
}

export class Steps {
  #left = MAX_STEPS
  #since = Date.now()

  /** Must be called after a pause. */
  restart(): void {
    this.#left = MAX_STEPS
    this.#since = Date.now()
  }

  /** Whether other work should get a turn. */
  get isWorn(): boolean {
    return this.#left < MAX_STEPS - WORN_STEPS || Date.now() - this.#since > WORN_MS
  }

  take(): void {
    this.#left--
    if (this.#left > 0 && (this.#left % CLOCK_EVERY_STEPS !== 0 || Date.now() - this.#since < MAX_MS)) return
    throw new TooMuch('the program takes too long for one input')
  }
}

export function step(path: Path, key: JqValue): Path {
  return path === undefined ? undefined : { parent: path, key }
}

export const lostPath = (path: Path): Path => (path === undefined ? undefined : LOST)

export function keysTo(trail: PathStep): JqValue[] {
  const keys: JqValue[] = []
  for (let at: PathStep = trail; at.parent !== null; at = at.parent) keys.push(at.key)
  return keys.reverse()
}

export function bind(env: Env, bound: Bound): Env {
  return { bound, parent: env }
}

export function boundAt(env: Env, hops: number): Bound {
  let at = env
  for (let i = 0; i < hops; i++) at = at?.parent ?? null
  if (at === null) throw new Error('a name of the program is bound nowhere')
  return at.bound
}

export function valueBound(env: Env, hops: number): JqValue {
  const bound = boundAt(env, hops)
  if (typeof bound === 'string' || !('value' in bound)) throw new Error('a name of the program is no variable')
  return bound.value
}

/** Runs a filter without paths. */
export function run(filter: Filter, env: Env, value: JqValue, emit: (value: JqValue) => void): void {
  filter(env, { value, path: undefined }, emit)
}

/** The first result; the filter is stopped after it. Null if there is none. */
export function firstOf(filter: Filter, env: Env, value: JqValue): { value: JqValue } | null {
  const label = {}
  let found: { value: JqValue } | null = null
  try {
    run(filter, env, value, (one) => {
      found = { value: one }
      throw new BreakSignal(label)
    })
  } catch (error) {
    if (!(error instanceof BreakSignal && error.label === label)) throw error
  }
  return found
}

/** The paths of a filter's results. */
export function pathsOf(filter: Filter, env: Env, value: JqValue, describe: (value: JqValue) => string): JqValue[][] {
  const found: JqValue[][] = []
  filter(env, { value, path: ROOT }, (one, path) => {
    if (path === undefined || path === LOST) {
      throw new JqError(`Invalid path expression with result ${describe(one)}`)
    }
    found.push(keysTo(path))
  })
  return found
}
