// The command-line options of `npm run load`.

import { parseArgs } from 'node:util'
import { Fault, messageOf } from '../start/fault.ts'

export type Options = {
  readonly minutes: number
  readonly conversations: number
  readonly owners: number
  /** Of the conversations, on real runners; the others at the edge. */
  readonly lent: number
  readonly sockets: number
  readonly streams: number
  /** Stocks in a batch. */
  readonly batch: number
}

const DEFAULTS: Options = {
  minutes: 10,
  conversations: 200,
  owners: 100,
  lent: 100,
  sockets: 500,
  streams: 200,
  batch: 50,
}
const NAMES = Object.keys(DEFAULTS) as (keyof Options)[]
export const USAGE = `npm run load -- ${NAMES.map((name) => `[--${name} ${DEFAULTS[name]}]`).join(' ')}`

/** Throws a `Fault` that lists the allowed options. */
export function readOptions(args: readonly string[]): Options {
  const asked = parse(args)
  const read = (name: keyof Options): number => {
    const text = asked[name]
    const value = text === undefined ? DEFAULTS[name] : Number(text)
    const isWhole = name === 'minutes' || name === 'lent' || Number.isInteger(value)
    if (!(isWhole && value >= (name === 'lent' ? 0 : Number.MIN_VALUE)))
      throw new Fault(`--${name}: found "${text}". ${USAGE}`)
    return value
  }
  const options = Object.fromEntries(NAMES.map((name) => [name, read(name)])) as Options
  if (options.lent > options.conversations) throw new Fault(`--lent is more than --conversations. ${USAGE}`)
  return options
}

function parse(args: readonly string[]): Partial<Record<keyof Options, string>> {
  try {
    const options = Object.fromEntries(NAMES.map((name) => [name, { type: 'string' } as const]))
    return parseArgs({ args: [...args], options }).values as Partial<Record<keyof Options, string>>
  } catch (error) {
    throw new Fault(`${messageOf(error)}. ${USAGE}`)
  }
}

const FAIRNESS_SECONDS = 8
export const FAIRNESS_USAGE = `npm run load -- --fairness [--seconds ${FAIRNESS_SECONDS}] [--only <pattern of attacks' names>]`

/** Null where it is not what is asked for. */
export function readFairness(args: readonly string[]): { seconds: number; only: string | null } | null {
  if (!args.includes('--fairness')) return null
  try {
    const options = { fairness: { type: 'boolean' }, seconds: { type: 'string' }, only: { type: 'string' } } as const
    const { values } = parseArgs({ args: [...args], options })
    const seconds = Number(values.seconds ?? FAIRNESS_SECONDS)
    if (!(seconds >= 1)) throw new Fault(`--seconds: found "${values.seconds}"`)
    return { seconds, only: values.only ?? null }
  } catch (error) {
    throw new Fault(`${messageOf(error)}. ${FAIRNESS_USAGE}`)
  }
}
