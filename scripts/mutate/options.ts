import { parseArgs } from 'node:util'
import { Fault, messageOf } from '../start/fault.ts'

export type Options = {
  readonly seeds: readonly number[]
  readonly count: number
  readonly only: RegExp
  /** The test files to run. Fewer files are faster and give a lower bound of the rate. */
  readonly tests: RegExp
  /** Records again for every test file which functions it calls. */
  readonly afresh: boolean
  /** Does not run test files to record their calls: for unknown files their imports are used. */
  readonly asKept: boolean
  /** The time budget for the tests of one mutant, measured by their times without it. */
  readonly budgetMs: number
}

export const USAGE =
  'npm run mutate -- [--seed N[,N …]] [--count N] [--only PATTERN OF PATHS] [--tests PATTERN OF PATHS] [--budget SECONDS] [--afresh | --as-kept]'

/** Throws a `Fault` that lists the allowed options. */
export function readOptions(args: readonly string[]): Options {
  const { seed, count, only, tests, budget, afresh, 'as-kept': asKept } = parse(args)
  if (afresh && asKept) throw new Fault(`--afresh or --as-kept, not both. ${USAGE}`)
  return {
    seeds: seed.split(',').map((word) => wholeNumber('--seed', word, 0)),
    count: wholeNumber('--count', count, 1),
    only: pattern('--only', only),
    tests: pattern('--tests', tests),
    afresh,
    asKept,
    budgetMs: wholeNumber('--budget', budget, 1) * 1000,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seed: { type: 'string', default: '1' },
        count: { type: 'string', default: '30' },
        only: { type: 'string', default: '' },
        tests: { type: 'string', default: '' },
        budget: { type: 'string', default: '180' },
        afresh: { type: 'boolean', default: false },
        'as-kept': { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new Fault(`${messageOf(error)}. ${USAGE}`)
  }
}

function wholeNumber(name: string, word: string, least: number): number {
  const number = Number(word)
  if (word === '' || !Number.isInteger(number) || number < least) throw new Fault(`${name}: found "${word}". ${USAGE}`)
  return number
}

function pattern(name: string, text: string): RegExp {
  try {
    return new RegExp(text)
  } catch (error) {
    throw new Fault(`${name}: ${messageOf(error)}. ${USAGE}`)
  }
}
