// `$-` and `BASHOPTS`: the active options of a shell.

import type { Position } from './position.ts'
import type { ShellVariables } from './shape.ts'

const LETTERS: readonly (readonly [letter: string, option: string])[] = [
  ...([
    ['a', 'allexport'],
    ['e', 'errexit'],
    ['f', 'noglob'],
    ['h', ''],
    ['n', 'noexec'],
    ['u', 'nounset'],
  ] as const),
  ...([
    ['v', 'verbose'],
    ['x', 'xtrace'],
    ['B', ''],
    ['C', 'noclobber'],
    ['E', 'errtrace'],
    ['T', 'functrace'],
  ] as const),
]
/** Options of `shopt` that are on in a new shell, and have no effect here. */
const ON: readonly string[] = [
  ...['checkwinsize', 'cmdhist', 'complete_fullquote', 'extquote', 'force_fignore', 'globasciiranges'],
  ...['hostcomplete', 'interactive_comments', 'progcomp', 'promptvars', 'sourcepath'],
]

export function shellFlags(
  { state, position }: { state: ShellVariables; position: Position },
  name: '-' | 'BASHOPTS',
): string {
  if (name === 'BASHOPTS') {
    const known = Object.entries(state.shoptOptions).flatMap(([option, isOn]) => (isOn ? [option] : []))
    return [...ON, ...known, ...position.ownOptions].sort().join(':')
  }
  const letters = LETTERS.filter(([, option]) => option === '' || state.options[option]).map(([letter]) => letter)
  const given = position.isOfWords ? 'c' : position.isOfInput ? 's' : ''
  return letters.join('') + given
}
