import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Fault, messageOf } from '../start/fault.ts'
import { FILE } from './report.ts'
import { LEAST_ROUNDS } from './rounds.ts'
import { ROW_NAMES } from './rows.ts'

export type Options = {
  readonly rows: readonly string[]
  readonly rounds: number
  /** A ready bundle to measure in place of the one that this tree makes: for trying a change. */
  readonly script: string | null
  /** Files of figures to make the document's table of, in place of measuring; null to measure. */
  readonly written: readonly string[] | null
}

const DEFAULT_ROUNDS = 7
export const USAGE = `npm run bench -- [ROW …] [--rounds N, at least ${LEAST_ROUNDS}] [--script FILE]\n       npm run bench -- --write [FILE …]\nRows: ${ROW_NAMES.join(', ')}`

/** Throws a `Fault` that says what may be asked for. */
export function readOptions(args: readonly string[]): Options {
  const { asked, rounds, script, write } = parse(args)
  if (write === true) return { rows: [], rounds: 0, script: null, written: asked.length === 0 ? [FILE] : asked }
  const unknown = asked.filter((name) => !ROW_NAMES.includes(name))
  if (unknown.length > 0) throw new Fault(`There is no row ${unknown.join(', ')}. ${USAGE}`)
  const count = rounds === undefined ? DEFAULT_ROUNDS : Number(rounds)
  if (!Number.isInteger(count) || count < LEAST_ROUNDS) throw new Fault(`--rounds: found "${rounds}". ${USAGE}`)
  const rows = asked.length === 0 ? ROW_NAMES : ROW_NAMES.filter((name) => asked.includes(name))
  return { rows, rounds: count, script: script ?? null, written: null }
}

/** Throws a `Fault` where a file that is to be read is not there. */
export function requireFiles({ script, written }: Options): void {
  const missing = [...(script === null ? [] : [script]), ...(written ?? [])].find((file) => !existsSync(file))
  if (missing !== undefined) throw new Fault(`There is no file ${missing}. ${USAGE}`)
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const
  try {
    const options = { rounds: text, script: text, write: { type: 'boolean' } } as const
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    return { ...values, asked: positionals.flatMap((word) => word.split(',')).filter((name) => name !== '') }
  } catch (error) {
    throw new Fault(`${messageOf(error)}. ${USAGE}`)
  }
}
