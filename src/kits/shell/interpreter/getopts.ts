// `getopts`. The interpreter's version sets OPTARG to an empty value where bash unsets it, prints messages despite
// `OPTERR=0`, and keeps its position in a variable.

import { IS_NAME } from '../interpreter-command.ts'
import type { Position, Watched } from './position.ts'
import type { StepResult } from './shape.ts'

const USAGE = 'getopts: usage: getopts optstring name [arg ...]\n'
const SHELL = 'bash'

/** The result of one call: the letter for the variable, its value, and the message. */
type ParsedOption = { name: string; value?: string; problem?: string }

export function runGetopts({ ctx }: Watched, { own }: Position, args: readonly string[]): StepResult {
  const words = args[0] === '--' ? args.slice(1) : args
  const [options, name, ...given] = words
  if (options === undefined || name === undefined) return { stdout: '', stderr: USAGE, exitCode: 2 }
  const { env, readonlyVars } = ctx.state
  const list = given.length > 0 ? given : positional(env)
  const before = env.get('OPTIND') ?? '1'
  if (before !== own.optind) own.letter = 0
  const cursor = { index: Math.max(1, Number.parseInt(before, 10) || 1), letter: own.letter }
  const found = nextOption(options, list, cursor)
  own.letter = cursor.letter
  own.optind = String(cursor.index)
  env.set('OPTIND', own.optind)
  if (found?.value === undefined) env.delete('OPTARG')
  else env.set('OPTARG', found.value)
  const isSaid = found?.problem !== undefined && env.get('OPTERR') !== '0'
  const said = isSaid ? `${env.get('0') ?? SHELL}: ${found.problem}\n` : ''
  if (!IS_NAME.test(name)) return failed(`${said}bash: getopts: \`${name}': not a valid identifier\n`)
  if (readonlyVars?.has(name)) return failed(`${said}bash: ${name}: readonly variable\n`)
  env.set(name, found?.name ?? '?')
  return { stdout: '', stderr: said, exitCode: found === null ? 1 : 0 }
}

function positional(env: ReadonlyMap<string, string>): string[] {
  return Array.from({ length: Number(env.get('#') ?? 0) }, (_, i) => env.get(String(i + 1)) ?? '')
}

/** Null if there are no more; `index` counts from one, `letter` is the position within a word, and 0 before the next. */
function nextOption(
  options: string,
  list: readonly string[],
  cursor: { index: number; letter: number },
): ParsedOption | null {
  const isSilent = options.startsWith(':')
  const word = list[cursor.index - 1]
  if (cursor.letter === 0 || word === undefined || cursor.letter >= word.length) {
    cursor.letter = 0
    if (word === '--') cursor.index++
    if (word === undefined) cursor.index = list.length + 1
    if (word === undefined || word === '--' || word.length < 2 || !word.startsWith('-')) return null
    cursor.letter = 1
  }
  const letter = word?.[cursor.letter] ?? ''
  const at = letter === ':' ? -1 : options.indexOf(letter)
  const rest = word?.slice(cursor.letter + 1) ?? ''
  cursor.letter = rest === '' ? 0 : cursor.letter + 1
  if (rest === '') cursor.index++
  if (at < 0) return isSilent ? { name: '?', value: letter } : { name: '?', problem: `illegal option -- ${letter}` }
  if (options[at + 1] !== ':') return { name: letter }
  cursor.letter = 0
  cursor.index++
  if (rest !== '') return { name: letter, value: rest }
  const value = list[cursor.index - 2]
  if (value !== undefined) return { name: letter, value }
  cursor.index--
  return isSilent ? { name: ':', value: letter } : { name: '?', problem: `option requires an argument -- ${letter}` }
}

function failed(stderr: string): StepResult {
  return { stdout: '', stderr, exitCode: 1 }
}
