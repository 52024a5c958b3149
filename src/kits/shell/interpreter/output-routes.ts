// Where each descriptor of a shell leads. The interpreter hands what a command writes from step to step until something takes
// it, so a copy of a descriptor (`exec 3>&1`) cannot mean what the descriptor meant when it was copied. A script that makes such
// copies, or sends both streams of several commands to one place, has a table like that of a kernel instead: what a command writes goes to its place at once, and a copy of a descriptor
// is the same place.

import { bytesToText, textToBytes } from '../../../workspace/text-encodings.ts'
import { inBytes } from '../interpreter-command.ts'
import { outputOf } from '../standard-streams.ts'
import type { StoppedOutput } from '../stopped-output.ts'
import type { Interpreter, StepResult } from './shape.ts'
import { without } from './step-result.ts'

type Shell = Pick<Interpreter, 'ctx'> & { position?: { stopped: StoppedOutput } }
type Terminal = { show: (text: string) => void }

const OUTPUT = 1
const ERRORS = 2
/** What the interpreter says of being stopped, which `timeout` says in its own words. */
const ABORTED = /^bash: execution aborted\n/gm

/** What is written to it comes as one character a byte. */
export interface OutputTarget {
  write(bytes: string): Promise<void> | void
  /** The same, if it need not be there before the next command that could look. */
  gather?(bytes: string): Promise<void> | void
  /** Whether nobody reads it any more. */
  readonly isUnread?: boolean
}

/** Left in the answer of the step, for a redirection that the interpreter makes itself. */
export const LEFT_TO_INTERPRETER: OutputTarget = { write: () => undefined }

/** For what is closed. */
export const CLOSED: OutputTarget = { write: () => undefined }

/** What its readers want of it (`reader-wants.ts`). */
interface Wants {
  readonly areExceeded: boolean
  note(bytes: string): void
}

class Captured implements OutputTarget {
  readonly #pieces: string[] = []
  readonly #wants: Wants | null

  constructor(wants: Wants | null = null) {
    this.#wants = wants
  }

  get isUnread(): boolean {
    return this.#wants?.areExceeded ?? false
  }

  write(bytes: string): void {
    this.#pieces.push(bytes)
    this.#wants?.note(bytes)
  }

  take(): string {
    return this.#pieces.splice(0).join('')
  }
}

export class OutputRoutes {
  #places: Map<number, OutputTarget>
  /** How much was written to the standard output, whichever it was. */
  written = 0

  constructor(places: Iterable<readonly [number, OutputTarget]>) {
    this.#places = new Map(places)
  }

  at(descriptor: number): OutputTarget | undefined {
    return this.#places.get(descriptor)
  }

  set(descriptor: number, place: OutputTarget | undefined): void {
    if (place === undefined) this.#places.delete(descriptor)
    else this.#places.set(descriptor, place)
  }

  /** Whether the reader of its output has had enough. */
  get isUnread(): boolean {
    return this.#places.get(OUTPUT)?.isUnread ?? false
  }

  isClosed(descriptor: number): boolean {
    return this.#places.get(descriptor) === CLOSED
  }

  /** From a number on that can name a new descriptor. */
  firstFree(from: number, isTaken: (descriptor: number) => boolean): number {
    let descriptor = from
    while (this.#places.has(descriptor) || isTaken(descriptor)) descriptor++
    return descriptor
  }

  /** For a shell that a command starts, which changes a table of its own. */
  copy(): OutputRoutes {
    return new OutputRoutes(this.#places)
  }

  /** Runs with other places, whatever is done to them meanwhile. */
  async within<T>(places: Iterable<readonly [number, OutputTarget]>, run: () => Promise<T>): Promise<T> {
    const before = this.#places
    this.#places = new Map([...before, ...places])
    try {
      return await run()
    } finally {
      this.#places = before
    }
  }
}

/** Both streams lead to the terminal. */
export function terminalRoutes(shell: Shell, terminal: Terminal): OutputRoutes {
  const place = terminalOf(shell, terminal)
  return new OutputRoutes([
    [OUTPUT, place],
    [ERRORS, place],
  ])
}

/** Both are taken by what runs the shell. */
export function takenRoutes(): OutputRoutes {
  return new OutputRoutes([
    [OUTPUT, LEFT_TO_INTERPRETER],
    [ERRORS, LEFT_TO_INTERPRETER],
  ])
}

function terminalOf({ ctx }: Shell, { show }: Terminal): OutputTarget {
  return {
    write: (bytes) => {
      const text = textOf(bytes)
      ctx.executionScope.appendOutput('stdout', text, 'terminal')
      show(text)
    },
  }
}

/** A line of `set -x`, before what it tells of is done. False where it can only be part of the answer. */
export async function shownAtOnce(
  { isLive, show, outputs }: Terminal & { isLive: boolean; outputs: OutputRoutes | null },
  text: string,
): Promise<boolean> {
  if (outputs === null) {
    if (isLive) show(text)
    return isLive
  }
  const errors = outputs.at(ERRORS)
  if (errors === undefined || errors === LEFT_TO_INTERPRETER) return false
  await errors.write(inBytes({ stdout: text, stderr: '', exitCode: 0 }))
  return true
}

/** What a step wrote goes where its descriptors lead, and is no part of what it answers with. */
export async function emitted(
  shell: Shell,
  routes: OutputRoutes,
  result: StepResult,
  { gathers }: { gathers: boolean } = { gathers: false },
): Promise<StepResult> {
  if (result.stdout === '' && result.stderr === '') return result
  let left = result
  if (shell.ctx.state.options.xtrace) left = await errorsEmitted(shell, routes, left)
  const output = routes.at(OUTPUT)
  if (left.stdout !== '' && output !== LEFT_TO_INTERPRETER) {
    const bytes = inBytes(left)
    routes.written += bytes.length
    await (gathers && output?.gather ? output.gather(bytes) : output?.write(bytes))
    left = without(left, 'stdout')
  }
  return errorsEmitted(shell, routes, left)
}

async function errorsEmitted({ position }: Shell, routes: OutputRoutes, result: StepResult): Promise<StepResult> {
  const errors = routes.at(ERRORS)
  if (result.stderr === '' || errors === LEFT_TO_INTERPRETER) return result
  const text = position?.stopped.isStopping ? result.stderr.replaceAll(ABORTED, '') : result.stderr
  if (text !== '') await errors?.write(inBytes({ stdout: text, stderr: '', exitCode: 0 }))
  return without(result, 'stderr')
}

/** An error by which something ends that is not a failure of ours carries what was written before it. */
type Carrier = Error & {
  stdout: string
  stderr: string
  internalOutputAccounting?: { stdout: number; stderr: number }
  prependOutput(stdout: string, stderr: string): void
}

function isCarrier(error: unknown): error is Carrier {
  return error instanceof Error && 'prependOutput' in error && typeof error.prependOutput === 'function'
}

const WRITTEN = new WeakMap<Error, string>()

/** What an error carried as errors before that was written. */
export const errorsOf = (error: Error & { stderr: string }): string => WRITTEN.get(error) ?? error.stderr

/** For a step that may be left by `return` or `exit`: what that carries is written while the places are those of the step. */
export async function withEmitted(
  shell: Shell,
  routes: OutputRoutes,
  run: () => Promise<StepResult>,
  use: { gathers: boolean } = { gathers: false },
): Promise<StepResult> {
  try {
    return await emitted(shell, routes, await run(), use)
  } catch (error) {
    if (isCarrier(error)) {
      const { stdout, stderr } = error
      if (!WRITTEN.has(error)) WRITTEN.set(error, stderr)
      const left = await emitted(shell, routes, { stdout, stderr, exitCode: 0 })
      Object.assign(error, { stdout: left.stdout, stderr: left.stderr })
      // What is passed on is counted anew.
      if (error.internalOutputAccounting) Object.assign(error.internalOutputAccounting, { stdout: 0, stderr: 0 })
    }
    throw error
  }
}

/** What is taken: the standard output, both streams as one text, or each by itself. */
export type CapturedStreams = 'output' | 'both' | 'each'

type Capture = { takes: CapturedStreams; wants?: Wants | null; run: () => Promise<StepResult> }

/** With what was written as the answer: for a substitution, a stage of a pipe, a shell that a command runs. */
export async function captured(
  shell: Shell,
  routes: OutputRoutes,
  { takes, wants, run }: Capture,
): Promise<StepResult> {
  const output = new Captured(wants)
  const errors = new Captured()
  const places: [number, OutputTarget][] = [[OUTPUT, output]]
  if (takes !== 'output') places.push([ERRORS, takes === 'both' ? output : errors])
  const answer = () => ({ ...outputOf(output.take()), stderr: textOf(errors.take()) })
  try {
    const { internalOutputAccounting: _, ...result } = await routes.within(places, () =>
      withEmitted(shell, routes, run),
    )
    return { ...result, ...answer() }
  } catch (error) {
    if (isCarrier(error)) {
      const { stdout, stderr } = answer()
      error.prependOutput(stdout, stderr)
    }
    throw error
  }
}

const ABOVE_ASCII = /[^\0-\x7f]/

function textOf(bytes: string): string {
  return ABOVE_ASCII.test(bytes) ? bytesToText(textToBytes(bytes, 'latin1'), 'utf8') : bytes
}
