// What of a commit's message is kept.

import { fatal } from './failure.ts'

export type Cleanup = 'strip' | 'whitespace' | 'verbatim' | 'scissors'

const SCISSORS = '# ------------------------ >8 ------------------------'

/** As `--cleanup` and the configuration name it; the default depends on whether there was an editor. */
export function cleanupOf(name: string, isEdited: boolean): Cleanup {
  if (name === 'default') return isEdited ? 'strip' : 'whitespace'
  if (name === 'scissors') return isEdited ? 'scissors' : 'whitespace'
  if (name === 'strip' || name === 'whitespace' || name === 'verbatim') return name
  throw fatal(`Invalid cleanup mode ${name}`)
}

/** Without blanks at line ends, without empty lines around it and more than one between paragraphs. */
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
