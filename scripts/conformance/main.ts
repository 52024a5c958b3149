// `npm run conformance`: runs other projects' test suites against our code. Each suite is a published package of a fixed version,
// fetched for the run and installed nowhere. It prints how much of each is so here; what is not stands with its reason in
// `expected.ts`, and anything else fails.

import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault } from '../start/fault.ts'
import type { Case } from './case.ts'
import { EXPECTED } from './expected.ts'
import { csvCases, zipCases } from './files.ts'
import { mcpCases } from './mcp.ts'
import { taLibCases } from './ta-lib.ts'
import { verdictOn } from './verdict.ts'

type Suite = {
  readonly name: string
  /** The cases in it that we read. */
  readonly count: number
  /** Null for packages that are installed for the tests anyway. */
  readonly source: { readonly id: string; readonly sha512: string } | null
  cases(folder: string): Case[] | Promise<Case[]>
}

const SUITES: readonly Suite[] = [
  {
    name: 'TA-Lib: its regression test',
    count: 98,
    source: {
      id: 'talib@2.0.5',
      sha512:
        '92d7228d7d18a4ef7eb4d6ec6f88fb20c107a48133c1e109a699baabc58410a36becec530e381470df8fa2f1413931858b4699494efddb21df470ff6f8b526de',
    },
    cases: (folder) => taLibCases(join(folder, 'src/lib/src/tools/ta_regtest')),
  },
  {
    name: 'CSV: csv-spectrum',
    count: 12,
    source: {
      id: 'csv-spectrum@2.0.0',
      sha512:
        '8235bd60402472b268e0011dad5f7ee259145e53b26320bed40a7779fccc89452cd4e4dd676f55ada05934104a64aee289491b30d91499f2a9fe39dacb31f100',
    },
    cases: csvCases,
  },
  {
    name: 'ZIP: archives of unzip',
    count: 8,
    source: {
      id: 'unzip@0.1.11',
      sha512:
        '0efc5dedb8f645c7db33e01b35fc7451faaf93b2a5e1819e0109441a7f7e8250d0cf51c5c5e7918c14adc62fc37c8be0bad9fa85b0b8c8c735ac4a37c7e76655',
    },
    cases: (folder) => zipCases(join(folder, 'testData')),
  },
  { name: 'MCP: the official suite', count: 58, source: null, cases: mcpCases },
]

const NAMES = `Suites: ${SUITES.map(({ name }) => name).join('; ')}`
const USAGE = `npm run conformance -- [WORD OF A SUITE'S NAME …]\n${NAMES}`

export async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) return console.log(USAGE)
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-conformance-'))
  let isWell = true
  try {
    for (const suite of suitesOf(args)) {
      isWell = tell(suite, await suite.cases(suite.source === null ? folder : fetched(folder, suite.source))) && isWell
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    console.error(error.message)
    isWell = false
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  if (!isWell) process.exitCode = 1
}

/** The suites with one of the words in their name; all suites if there are no words. */
function suitesOf(words: readonly string[]): readonly Suite[] {
  const hasIn = (word: string) => (suite: Suite) => suite.name.toLowerCase().includes(word.toLowerCase())
  const unknown = words.find((word) => !SUITES.some(hasIn(word)))
  if (unknown !== undefined) throw new Fault(`There is no suite ${unknown}. ${NAMES}`)
  return SUITES.filter((suite) => words.length === 0 || words.some((word) => hasIn(word)(suite)))
}

/** The folder of the package, which must be the very one that the suite was read from. */
function fetched(folder: string, { id, sha512 }: NonNullable<Suite['source']>): string {
  const target = join(folder, id)
  mkdirSync(target)
  const archive = join(target, packed(id, target))
  const found = createHash('sha512').update(readFileSync(archive)).digest('hex')
  if (found !== sha512) throw new Fault(`${id} is another package than the one that was read: ${found}`)
  execFileSync('tar', ['-xzf', archive, '-C', target, '--strip-components', '1'])
  return target
}

/** The name of the archive in the folder. */
function packed(id: string, target: string): string {
  const { status, stdout, stderr } = spawnSync('npm', ['pack', id, '--pack-destination', target], { encoding: 'utf8' })
  if (status !== 0) throw new Fault(`${id} could not be fetched: ${stderr.trim() || `npm ended with ${status}`}`)
  return stdout.trim().split('\n').at(-1) ?? ''
}

function tell(suite: Suite, cases: readonly Case[]): boolean {
  const { isWell, lines } = verdictOn(suite, cases, EXPECTED)
  console.log(lines.join('\n'))
  return isWell
}
