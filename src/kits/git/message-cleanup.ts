// Cleans up commit messages.

import { fatal } from './failure.ts'

export type Cleanup = 'strip' | 'whitespace' | 'verbatim' | 'scissors'

const SCISSORS = '# ------------------------ >8 ------------------------'

/** In the terms of `--cleanup` and the configuration; the default depends on the use of an editor. */
export function cleanupOf(name: string, isEdited: boolean): Cleanup {
  if (name === 'default') return isEdited ? 'strip' : 'whitespace'
  if (name === 'scissors') return isEdited ? 'scissors' : 'whitespace'
  if (name === 'strip' || name === 'whitespace' || name === 'verbatim') return name
  throw fatal(`Invalid cleanup mode ${name}`)
}

/** Removes trailing blanks, surrounding empty lines, and all but one empty line between paragraphs. */
export function tidyMessage(text: string, cleanup: Cleanup = 'whitespace'): string {
  if (cleanup === 'verbatim') return text
  const end = cleanup === 'scissors' ? `\n${text}`.indexOf(`\n${SCISSORS}\n`) : -1
  const all = (end < 0 ? text : text.slice(0, end)).split('\n')
  const lines = cleanup === 'strip' ? all.filter((line) => !line.startsWith('#')) : all
  const tidy = lines
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^\n+|\n+$/g, '')
  return tidy === '' ? '' : `${tidy}\n`
}
