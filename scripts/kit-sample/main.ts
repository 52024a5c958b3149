import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  CORPORA,
  type Corpus,
  type Listed,
  nameOf,
  readSample,
  sampleFile,
  textOfSample,
} from '../../test/support/kit-sample/sample.ts'
import { entriesOf, themes } from '../../test/support/shell-corpus.ts'
import { optionsByProgram } from '../../test/support/shell-options.ts'
import { programsOf } from '../../test/support/shell-programs.ts'
import { ROOT } from '../../test/support/source-tree.ts'
import { Fault } from '../start/fault.ts'
import { type Candidate, cover } from './cover.ts'
import { printGaps } from './gaps.ts'
import { readOptions, USAGE } from './options.ts'
import { type FilePlaces, placesOfKits } from './places.ts'
import { type Recorded, reachedBy, readRecord } from './reading.ts'

const RECORD = join(ROOT, 'node_modules', '.cache', 'kit-sample', 'record.jsonl')
const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')

/** The cost of an entry outside our shell: a tree for the real shell, its processes, and the comparison. */
const REAL_MS: Readonly<Record<Corpus, number>> = { commands: 75, options: 130 }
/** Real programs that wait until they are stopped. */
const ENDLESS = /\btail .*(-[fF]|--follow)/
/** Shorter times vary between runs, and are negligible compared with the real shell. */
const LONG_MS = 100
/** A previously chosen entry is chosen again unless another one is better by more than this. */
const KEPT = 0.9

export async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) return console.log(USAGE)
  try {
    const { 'as-kept': asKept, seconds, gaps } = readOptions(args)
    if (!asKept) record()
    if (!existsSync(RECORD)) throw new Fault(`there is no record yet: leave --as-kept out. ${USAGE}`)
    const places = placesOfKits()
    const recorded = await readRecord(RECORD, places)
    if (gaps) return printGaps(places, recorded)
    choose(places, recorded, Number(seconds) * 1000)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}

function record(): void {
  mkdirSync(dirname(RECORD), { recursive: true })
  rmSync(RECORD, { force: true })
  const args = [VITEST, 'run', '--config', join(import.meta.dirname, 'vitest.config.ts')]
  const env = { ...process.env, KIT_SAMPLE_RECORD: RECORD, PROOF: '1' }
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env })
  if (status !== 0) throw new Fault('the corpora did not run to their end')
}

function choose(places: readonly FilePlaces[], recorded: readonly Recorded[], budgetMs: number): void {
  const ending = recorded.filter(({ script }) => !ENDLESS.test(script))
  const chosen = cover(ending.map(candidateOf(chosenBefore())), budgetMs).flatMap((at) => ending[at] ?? [])
  for (const corpus of CORPORA) {
    const ofCorpus = chosen.filter((one) => one.corpus === corpus)
    const path = sampleFile(corpus)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, textOfSample(groupsOf(corpus, ofCorpus)))
    console.log(`${corpus}: ${ofCorpus.length} of ${recorded.filter((one) => one.corpus === corpus).length} entries`)
  }
  const end = (places.at(-1)?.first ?? 0) + (places.at(-1)?.lines.length ?? 0)
  const count = (entries: readonly Recorded[]) => {
    const reached = [...reachedBy(entries)]
    const inCode = reached.filter((place) => place < end).length
    return `${inCode} places and ${reached.length - inCode} words`
  }
  console.log(`all of them reach ${count(recorded)} of ${end}, the sample ${count(chosen)}`)
}

function candidateOf(before: ReadonlySet<string>): (entry: Recorded) => Candidate {
  return (entry) => {
    const longMs = entry.ms < LONG_MS ? 0 : 2 ** Math.round(Math.log2(entry.ms))
    const isKept = before.has(keyOf(entry.corpus, entry.group, nameOf({ ...entry, theme: themeOf(entry) })))
    return { cost: REAL_MS[entry.corpus] + longMs, favour: isKept ? KEPT : 1, reached: entry.reached }
  }
}

const themeOf = ({ corpus, group }: Recorded): string => (corpus === 'options' ? corpus : group)
const keyOf = (corpus: string, group: string, name: string): string => `${corpus} ${group} ${name}`

function chosenBefore(): Set<string> {
  const keys = CORPORA.filter((corpus) => existsSync(sampleFile(corpus))).flatMap((corpus) =>
    [...readSample(readFileSync(sampleFile(corpus), 'utf8'))].flatMap(([group, { chosen }]) =>
      [...chosen].map((name) => keyOf(corpus, group, name)),
    ),
  )
  return new Set(keys)
}

/** Every group of the corpus, even without a chosen entry, so that known entries do not count as new. */
function groupsOf(corpus: Corpus, chosen: readonly Recorded[]) {
  const groups = new Map<string, { entries: readonly Listed[]; chosen: Set<string> }>()
  for (const [group, entries] of corpus === 'options' ? optionGroups() : commandGroups()) {
    const own = chosen.filter((one) => one.group === group).map((one) => nameOf({ ...one, theme: themeOf(one) }))
    groups.set(group, { entries, chosen: new Set(own) })
  }
  return groups
}

function optionGroups(): [string, Listed[]][] {
  return [...optionsByProgram()].map(([program, all]) => [program, all.map(({ entry }) => entry)])
}

function commandGroups(): [string, Listed[]][] {
  return [...themes(), 'programs-awk', 'programs-sed'].map((theme) => [theme, programsOf(theme) ?? entriesOf(theme)])
}
