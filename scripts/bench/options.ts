import { parseArgs } from 'node:util'
import { Fault, messageOf } from '../start/fault.ts'
import { LEAST_ROUNDS } from './rounds.ts'

export const ROWS = ['P1', 'P2', 'P3', 'P4', 'P10', 'startup'] as const
export type RowName = (typeof ROWS)[number]

export type Options = {
  readonly rows: readonly RowName[]
  readonly rounds: number
  /** A ready bundle to measure in place of the one that this tree makes: for trying a change. */
  readonly script: string | null
}

const DEFAULT_ROUNDS = 7
const USAGE = `npm run bench -- [--only ${ROWS.join(',')}] [--rounds N, at least ${LEAST_ROUNDS}] [--script FILE]`

/** Throws a `Fault` that says what may be asked for. */
export function readOptions(args: readonly string[]): Options {
  const { only, rounds, script } = parse(args)
  const names = only?.split(',') ?? [...ROWS]
  const unknown = names.filter((name) => !ROWS.some((row) => row === name))
  if (unknown.length > 0) throw new Fault(`There is no row ${unknown.join(', ')}. ${USAGE}`)
  const count = rounds === undefined ? DEFAULT_ROUNDS : Number(rounds)
  if (!Number.isInteger(count) || count < LEAST_ROUNDS) throw new Fault(`--rounds: found "${rounds}". ${USAGE}`)
  return { rows: ROWS.filter((row) => names.includes(row)), rounds: count, script: script ?? null }
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const
  try {
    return parseArgs({ args: [...args], options: { only: text, rounds: text, script: text } }).values
  } catch (error) {
    throw new Fault(`${messageOf(error)}. ${USAGE}`)
  }
}
