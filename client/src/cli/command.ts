// The definition of a command: one object with its arguments, its usage and its function. Help and completion are
// generated from it.

import type { Bellwether } from '../index.ts'
import type { Output } from './terminal.ts'

export type Flag = { type: 'string' | 'boolean'; short?: string; words: string; value?: string }
export type Flags = Readonly<Record<string, Flag>>

export type Run = {
  readonly service: Bellwether
  readonly url: string
  readonly key: string | null
  readonly out: Output
  readonly args: readonly string[]
  text(flag: string): string | undefined
  is(flag: string): boolean
}

export type Command = {
  readonly name: string
  readonly summary: string
  /** The usage line after the name. */
  readonly usage: string
  /** The possible first arguments, for completion. */
  readonly words?: readonly string[]
  readonly flags: Flags
  /** The accepted general options; all of them by default. */
  readonly general?: readonly string[]
  readonly examples: readonly string[]
  readonly more?: string
  /** Returns the exit code. */
  run(run: Run): Promise<number>
}

export const EXIT = { done: 0, failed: 1, usage: 2, refused: 3, unreachable: 4, interrupted: 130 } as const

/** The command line is invalid. */
export class UsageError extends Error {}

/** The argument at a position; the error names a missing one. */
export function requiredArgument(args: readonly string[], place: number, name: string): string {
  const arg = args[place]
  if (arg === undefined || arg === '') throw new UsageError(`${name} is missing`)
  return arg
}

export function none(args: readonly string[], from: number): void {
  if (args.length > from) throw new UsageError(`"${args[from]}" is one argument too many`)
}

export function wholeNumber(text: string, name: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new UsageError(`${name} is a whole number, not "${text}"`)
  return Number(text)
}
