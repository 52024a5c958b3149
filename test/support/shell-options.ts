// The options of the programs that the shell has, as their manuals and their own help list them, and the commands in which each
// is tried: `### program`, lines that begin with `> ` with `@` where the option goes, and options two blanks apart.
// None of them changes the machine itself, because the real programs run as the user of the tests.
// `normalise=` at the end of a line names what is made equal in both outputs.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CorpusEntry, Normaliser } from './real-shell-types.ts'
import { FIXTURES } from './shell-corpus.ts'

export interface TriedOption {
  program: string
  option: string
  entry: CorpusEntry
}

/** Commands of git whose result depends on an operation in progress, such as a merge. */
const OF_OPEN_WORK =
  /^git (add|apply|check-ignore|clean|commit|diff|diff-files|diff-index|grep|ls-files|reset|restore|stash.*|status|update-index)$/

export function optionsByProgram(): Map<string, TriedOption[]> {
  const parts = readFileSync(join(FIXTURES, 'options.txt'), 'utf8').split(/^### /m).slice(1)
  return new Map(parts.map((part) => triedIn(part)))
}

function triedIn(part: string): [string, TriedOption[]] {
  const [program = '', ...lines] = part.trimEnd().split('\n')
  const forms = lines.filter((line) => line.startsWith('> ')).map((line) => line.slice(2))
  const options = lines.filter((line) => line !== '' && !line.startsWith('> ')).flatMap((line) => line.split('  '))
  if (forms.length === 0 || options.length === 0) throw new Error(`nothing is tried of ${program}`)
  return [program, forms.flatMap((form) => options.map((option) => tried(program, form, option)))]
}

function tried(program: string, form: string, option: string): TriedOption {
  const [, command = form, normaliser] = /^(.*) normalise=(\S+)$/.exec(form) ?? []
  const ofGit = OF_OPEN_WORK.test(program) ? 'repo' : 'clean-repo'
  const entry = {
    id: `${program} ${option}`,
    theme: 'options',
    fixture: program.startsWith('git ') ? ofGit : 'project',
    script: command.replace('@', () => option),
    needs: [program.replace(/ .*/, '').replace('mawk', 'awk')],
    normalise: normaliser === undefined ? [] : [normaliser as Normaliser],
  }
  return { program, option, entry }
}

/** Whether the text names the option: as it is, without its dashes, or as one letter in the words of `getopt`. */
export function isNamed(option: string, text: string): boolean {
  const [name = ''] = option.split(/[ =]/)
  const bare = name.replace(/^-+/, '')
  if (text.includes(name) || (bare.length > 1 && text.includes(bare))) return true
  const letter = /^-[^-]/.test(name) ? name.charAt(1) : ''
  return letter !== '' && ['-', "option -- '", 'switch `'].some((before) => text.includes(`${before}${letter}`))
}
