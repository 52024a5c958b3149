// What `npm run evaluate` understands.

import { parseArgs } from 'node:util'

export type Options = {
  /** A folder of CSV or JSON files, one for each listing. */
  bars: string | null
  /** A state folder of the service, whose kept bars are read. */
  state: string | null
  /** A state folder whose ledgers of advice are verified; nothing else is done then. */
  ledger: string | null
  /** So many random walks. */
  walks: number
  /** So many panels of series with a planted edge. */
  planted: number
  seed: number
  /** Bars of each made series. */
  length: number
  /** Where the JSON goes; null: nowhere. */
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
} as const

const LEAST_LENGTH = 120

export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({ args: [...args], options: OPTIONS, strict: true })
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
  if (options.length < LEAST_LENGTH) throw new Error(`--length must be ${LEAST_LENGTH} or more`)
  return options
}

function count(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} must be a whole number, not ${text}`)
  return Number(text)
}
