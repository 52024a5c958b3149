// What a command is: one object that says what it takes, how it is used and what it does. Help and completion are made from it.

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
  /** What stands behind the name. */
  readonly usage: string
  /** What may stand first, for completion. */
  readonly words?: readonly string[]
  readonly flags: Flags
  /** The general options that it takes; all of them by default. */
  readonly general?: readonly string[]
  readonly examples: readonly string[]
  readonly more?: string
  /** The exit code. */
  run(run: Run): Promise<number>
}

export const EXIT = { done: 0, failed: 1, usage: 2, refused: 3, unreachable: 4, interrupted: 130 } as const

/** The command line is not one of ours. */
export class UsageError extends Error {}

/** The argument at a place; what is missing is named. */
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
