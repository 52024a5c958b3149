// The destinations of a shell's descriptors. The interpreter passes a command's output from step to step until a
// redirection receives it, so a copy of a descriptor (`exec 3>&1`) cannot keep the destination at the time of the copy.
// A script with such copies, or one that sends both streams of several commands to one place, has a table like a
// kernel's instead: output goes to its destination at once, and a copy of a descriptor has the same destination.

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
/** The interpreter's message about being stopped, for which `timeout` has its own. */
const ABORTED = /^bash: execution aborted\n/gm

/** Output comes as one character per byte. */
export interface OutputTarget {
  write(bytes: string): Promise<void> | void
  /** The same, if it need not be written before the next command that could read it. */
  gather?(bytes: string): Promise<void> | void
  /** Whether there is no reader any more. */
  readonly isUnread?: boolean
}

/** Left in the result of the step, for a redirection that the interpreter makes itself. */
export const LEFT_TO_INTERPRETER: OutputTarget = { write: () => undefined }

/** For a closed descriptor. */
export const CLOSED: OutputTarget = { write: () => undefined }

/** The amount that its readers want (`reader-wants.ts`). */
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
  /** The amount written to the standard output, whatever its destination. */
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

  /** Whether the reader of its output needs no more. */
  get isUnread(): boolean {
    return this.#places.get(OUTPUT)?.isUnread ?? false
  }

  isClosed(descriptor: number): boolean {
    return this.#places.get(descriptor) === CLOSED
  }

  /** The first free number from the given one on. */
  firstFree(from: number, isTaken: (descriptor: number) => boolean): number {
    let descriptor = from
    while (this.#places.has(descriptor) || isTaken(descriptor)) descriptor++
    return descriptor
  }

  /** For a shell started by a command, which changes its own table. */
  copy(): OutputRoutes {
    return new OutputRoutes(this.#places)
  }

  /** Runs with other destinations, and restores them afterwards. */
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

/** Both are captured by the code that runs the shell. */
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

/** A line of `set -x`, before its command runs. False if it can only be part of the result. */
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

/** A step's output goes to the destinations of its descriptors, and is removed from its result. */
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

/** An error that is not a failure contains the output before it. */
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

/** The error output of an error before it was written. */
export const errorsOf = (error: Error & { stderr: string }): string => WRITTEN.get(error) ?? error.stderr

/**
 * For a step that may be left by `return` or `exit`: the output in that error is written while the step's destinations
 * apply.
 */
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
      // Output that is passed on is counted again.
      if (error.internalOutputAccounting) Object.assign(error.internalOutputAccounting, { stdout: 0, stderr: 0 })
    }
    throw error
  }
}

/** What is captured: the standard output, both streams as one text, or each separately. */
export type CapturedStreams = 'output' | 'both' | 'each'

type Capture = { takes: CapturedStreams; wants?: Wants | null; run: () => Promise<StepResult> }

/** With the captured output as the result: for a substitution, a stage of a pipe, a shell that a command runs. */
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
