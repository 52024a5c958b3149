// Small programs for awk and sed, one after the other in `test/fixtures/shell/programs`: a line that begins with the name of a
// command begins the next one.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CorpusEntry } from './real-shell-types.ts'
import { FIXTURES } from './shell-corpus.ts'

const THEME = /^programs-(awk|sed)$/

/** Null for a theme of the corpus. */
export function programsOf(theme: string): CorpusEntry[] | null {
  const [, name] = THEME.exec(theme) ?? []
  if (name === undefined) return null
  const text = readFileSync(join(FIXTURES, 'programs', `${name}.txt`), 'utf8')
  return text
    .replace(/\n+$/, '')
    .split(/\n(?=(?:awk|sed|printf|V=\w+ awk) )/)
    .map((script, i) => ({
      id: `${theme}/${i + 1}`,
      theme,
      fixture: 'programs',
      script,
      needs: [name === 'awk' ? 'mawk' : name],
      normalise: [],
    }))
}
