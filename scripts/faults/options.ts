// The command-line options of `npm run test:faults`.

import { parseArgs } from 'node:util'
import { Fault, messageOf } from '../start/fault.ts'

const SUITE_NAMES = ['agent', 'alerts', 'deploys', 'lent', 'queue', 'runner'] as const

export type SuiteName = (typeof SUITE_NAMES)[number]

export type Options = { readonly suites: readonly SuiteName[]; readonly kills: number }

const DEFAULT_KILLS = 200
export const USAGE = `npm run test:faults -- [SUITE …] [--kills N]\nSuites: ${SUITE_NAMES.join(', ')}`

/** Throws a `Fault` that says which suites and options there are. */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parse(args)
  const unknown = positionals.filter((name) => !isSuite(name))
  if (unknown.length > 0) throw new Fault(`There is no suite ${unknown.join(', ')}. ${USAGE}`)
  const kills = values.kills === undefined ? DEFAULT_KILLS : Number(values.kills)
  if (!Number.isInteger(kills) || kills < 1) throw new Fault(`--kills: found "${values.kills}". ${USAGE}`)
  return { suites: positionals.length === 0 ? SUITE_NAMES : positionals.filter(isSuite), kills }
}

function isSuite(name: string): name is SuiteName {
  return SUITE_NAMES.some((suite) => suite === name)
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: { kills: { type: 'string' } }, allowPositionals: true })
  } catch (error) {
    throw new Fault(`${messageOf(error)}. ${USAGE}`)
  }
}
