// Chooses the entries of a corpus that always run: those that together cover the same code of the kits as the whole corpus,
// as `npm run sample` has recorded in `test/fixtures/shell/sample`, and those that are newer than the record.
//
// A group begins with `### name`. After `known` come short digests of the examined entries, and below them the chosen entries.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CorpusEntry } from '../real-shell-types.ts'
import { FIXTURES } from '../shell-corpus.ts'

export const CORPORA = ['commands', 'options'] as const
export type Corpus = (typeof CORPORA)[number]

export type Listed = Pick<CorpusEntry, 'id' | 'script' | 'theme'>
type Group = { known: ReadonlySet<string>; chosen: ReadonlySet<string> }

const DIGEST_CHARS = 4

export const sampleFile = (corpus: Corpus): string => join(FIXTURES, 'sample', `${corpus}.txt`)

/** Throws if the fixture names an entry that no longer exists. */
export function alwaysRun<T extends Listed>(corpus: Corpus, group: string, entries: readonly T[]): T[] {
  return chosenOf(groupsOf(corpus).get(group), group, entries)
}

export function chosenOf<T extends Listed>(sample: Group | undefined, group: string, entries: readonly T[]): T[] {
  const { known, chosen } = sample ?? { known: new Set(), chosen: new Set() }
  const names = new Set(entries.map(nameOf))
  const gone = [...chosen].filter((name) => !names.has(name))
  if (gone.length > 0) {
    throw new Error(
      `the sample of ${group} names what is no longer in the corpus: ${gone.join(', ')}. Make it again with "npm run sample".`,
    )
  }
  return entries.filter((entry) => chosen.has(nameOf(entry)) || !known.has(digestOf(entry)))
}

/** As it stands in the fixture: the id of an entry that has one of its own, otherwise what it runs, in one line. */
export function nameOf({ id, script, theme }: Listed): string {
  const hasOwnId = theme !== 'options' && !theme.startsWith('programs-')
  return hasOwnId ? id.slice(theme.length + 1) : JSON.stringify(script).slice(1, -1)
}

/** Changes when the entry changes. */
export function digestOf(entry: Listed): string {
  return createHash('sha256')
    .update(`${nameOf(entry)}\n${entry.script}`)
    .digest('base64url')
    .slice(0, DIGEST_CHARS)
}

/** What is written is what is read. */
export function textOfSample(groups: ReadonlyMap<string, { entries: readonly Listed[]; chosen: ReadonlySet<string> }>) {
  const parts = [...groups].map(([group, { entries, chosen }]) => {
    const known = [...new Set(entries.map(digestOf))].sort().join(' ')
    return [`### ${group}`, `known ${known}`, ...[...chosen].sort(), ''].join('\n')
  })
  return parts.join('\n')
}

export function readSample(text: string): Map<string, Group> {
  const parts = text.split(/^### /m).slice(1)
  return new Map(
    parts.map((part) => {
      const [group = '', known = '', ...chosen] = part.trimEnd().split('\n')
      return [group, { known: new Set(known.split(' ').slice(1)), chosen: new Set(chosen) }]
    }),
  )
}

const read = new Map<Corpus, Map<string, Group>>()

function groupsOf(corpus: Corpus): Map<string, Group> {
  const groups = read.get(corpus) ?? readSample(readFileSync(sampleFile(corpus), 'utf8'))
  read.set(corpus, groups)
  return groups
}
