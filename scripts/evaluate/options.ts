// The options of `npm run evaluate`.

import { parseArgs } from 'node:util'

export type Options = {
  /** A folder of CSV or JSON files, one for each listing. */
  bars: string | null
  /** A state folder of a service, whose stored bars are read. */
  state: string | null
  /** A state folder whose ledgers of advice are verified; nothing else is done then. */
  ledger: string | null
  /** The number of random walks. */
  walks: number
  /** The number of panels of series with a planted edge. */
  planted: number
  seed: number
  /** Bars of each made series. */
  length: number
  /** The output file of the JSON; null for none. */
  out: string | null
}

const OPTIONS = {
  bars: { type: 'string' },
  state: { type: 'string' },
  ledger: { type: 'string' },
  walks: { type: 'string', default: '0' },
  planted: { type: 'string', default: '0' },
  seed: { type: 'string', default: '1' },
  length: { type: 'string', default: '500' },
  out: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

const LEAST_LENGTH = 120

/** A call that cannot be understood. */
export class UsageError extends Error {}

export const HELP = `Usage: npm run evaluate [-- options]

Replays the method over bars and prints what it was worth; without options over the packaged samples.

  --bars FOLDER     bars in CSV or JSON files, one for each listing
  --state FOLDER    bars that a service has kept
  --ledger FOLDER   instead: whether the ledgers of advice in a state folder are whole
  --walks NUMBER    instead: so many random walks, and how often an edge is claimed where there is none
  --planted NUMBER  instead: so many panels with a planted edge, and how often it is found
  --length NUMBER   bars of each made series (500)
  --seed NUMBER     of everything that is drawn (1)
  --out FILE        writes the result as JSON
  --help            this text`

/** Null if the help was requested. */
export function parseOptions(args: readonly string[]): Options | null {
  const values = valuesOf(args)
  if (values.help) return null
  const options: Options = {
    bars: values.bars ?? null,
    state: values.state ?? null,
    ledger: values.ledger ?? null,
    walks: count('walks', values.walks),
    planted: count('planted', values.planted),
    seed: count('seed', values.seed),
    length: count('length', values.length),
    out: values.out ?? null,
  }
  if (options.length < LEAST_LENGTH) throw new UsageError(`--length must be ${LEAST_LENGTH} or more`)
  return options
}

function valuesOf(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, strict: true }).values
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message.split('. ')[0] : error}\n\n${HELP}`)
  }
}

function count(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} must be a whole number, not ${text}`)
  return Number(text)
}
