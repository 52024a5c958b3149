// What a conversation does, and what must be true of it afterwards: of each file it is known what it may hold.

import type { Random } from '../random.ts'

const NAMES = ['a', 'b', 'c', 'd']

export type Write = { readonly name: string; readonly size: number }
export type Command = {
  readonly key: string
  readonly writes: readonly Write[]
  readonly removes: readonly string[]
  readonly lines: number
  readonly restMs: number
  readonly exitCode: number
}

export function commandOf(key: string, random: Random): Command {
  const names = NAMES.filter(() => random.chance(0.5))
  return {
    key,
    writes: names.map((name) => ({ name, size: random.chance(0.1) ? random.below(900_000) : random.below(2_000) })),
    removes: random.chance(0.2) ? [random.pick(NAMES)].filter((name) => !names.includes(name)) : [],
    lines: random.below(6),
    restMs: random.pick([0, 10, 100, 400]),
    exitCode: random.below(4),
  }
}

/** Of a tool: it prints and changes no files. */
export function callOf(key: string, random: Random): Command {
  return { ...commandOf(key, random), key: `${CALL}${key}`, writes: [], removes: [] }
}

const CALL = 'call-of-'
export const isCall = ({ key }: { key: string }): boolean => key.startsWith(CALL)

export const contentOf = (key: string, { name, size }: Write): string => `${key} ${size}\n${name.repeat(size)}`

export const linesOf = ({ key, lines }: Command): string[] => Array.from({ length: lines }, (_, at) => `${key} ${at}\n`)

export function after(before: ReadonlyMap<string, string>, { key, writes, removes }: Command): Map<string, string> {
  const files = new Map(before)
  for (const write of writes) files.set(write.name, contentOf(key, write))
  for (const name of removes) files.delete(name)
  return files
}
