// The commands of the differential test, as they are written down: a text file for each theme, in which `### name` begins an
// entry and everything up to the next one is its script. After the name come `fixture=`, `needs=`, `normalise=` and
// `as=user`, for what a superuser may do and others may not.

import { readdirSync, readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { type CorpusEntry, NORMALISERS, type Normaliser } from './real-shell-types.ts'

export const FIXTURES = normalize(join(import.meta.dirname, '..', 'fixtures', 'shell'))
const FOLDER = join(FIXTURES, 'commands')
const DEFAULT_FIXTURE = 'project'

export const themes = (): string[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.txt'))
    .map((name) => name.replace(/\.txt$/, ''))
    .sort()

export function entriesOf(theme: string): CorpusEntry[] {
  const text = readFileSync(join(FOLDER, `${theme}.txt`), 'utf8')
  const [preface = '', ...parts] = text.split(/^### /m)
  const common = wordsOf(preface.match(/^# all: (.*)$/m)?.[1] ?? '')
  const entries = parts.map((part) => entryOf(theme, part, common))
  const twice = entries.find(({ id }, i) => entries.findIndex((other) => other.id === id) !== i)
  if (twice) throw new Error(`two entries are called ${twice.id}`)
  return entries
}

function entryOf(theme: string, part: string, common: Map<string, string>): CorpusEntry {
  const end = part.indexOf('\n')
  const [name = '', ...rest] = part.slice(0, end).trim().split(/\s+/)
  const words = new Map([...common, ...wordsOf(rest.join(' '))])
  const list = (key: string) => words.get(key)?.split(',') ?? []
  const script = part.slice(end + 1).replace(/\n+$/, '')
  if (!/^[A-Za-z0-9-]+$/.test(name) || script === '') throw new Error(`${theme}: no entry in: ${part.slice(0, 60)}`)
  return {
    id: `${theme}/${name}`,
    theme,
    fixture: words.get('fixture') ?? DEFAULT_FIXTURE,
    script,
    needs: words.get('as') === 'user' ? [...list('needs'), 'setpriv'] : list('needs'),
    isAsUser: words.get('as') === 'user',
    normalise: list('normalise').map(normaliser),
  }
}

function wordsOf(text: string): Map<string, string> {
  const words = text.split(/\s+/).filter((word) => word !== '')
  for (const word of words) if (!/^(fixture|needs|normalise|as)=/.test(word)) throw new Error(`not understood: ${word}`)
  return new Map(words.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]))
}

function normaliser(name: string): Normaliser {
  const known = NORMALISERS.find((other) => other === name)
  if (!known) throw new Error(`no such normaliser: ${name}`)
  return known
}
