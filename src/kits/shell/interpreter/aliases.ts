// `alias` and `unalias`: the interpreter lists aliases in the order of definition, and does not quote their text.

import type { ShellVariables, StepResult } from './shape.ts'

const PREFIX = 'BASH_ALIAS_'

/** Null for any other command. */
export function runAliases(
  { env }: Pick<ShellVariables, 'env'>,
  name: string,
  args: readonly string[],
): StepResult | null {
  if (name !== 'alias' && name !== 'unalias') return null
  const words = args[0] === '--' || args[0] === '-p' ? args.slice(1) : args
  return name === 'alias' ? define(env, words, args.length === 0 || args[0] === '-p') : forget(env, words)
}

type Variables = ShellVariables['env']

function define(env: Variables, words: readonly string[], listsAll: boolean): StepResult {
  const result = { stdout: listsAll ? listed(env) : '', stderr: '', exitCode: 0 }
  for (const word of words) {
    const [, name = word, value] = /^([^=]+)=(.*)$/s.exec(word) ?? []
    if (value !== undefined) env.set(PREFIX + name, value)
    else if (env.has(PREFIX + name)) result.stdout += shown(name, env.get(PREFIX + name) ?? '')
    else Object.assign(result, { stderr: `${result.stderr}bash: alias: ${name}: not found\n`, exitCode: 1 })
  }
  return result
}

function forget(env: Variables, words: readonly string[]): StepResult {
  const result = { stdout: '', stderr: '', exitCode: 0 }
  if (words.length === 0) return { ...result, stderr: 'unalias: usage: unalias [-a] name [name ...]\n', exitCode: 2 }
  if (words[0] === '-a') {
    for (const key of [...env.keys()]) if (key.startsWith(PREFIX)) env.delete(key)
    return result
  }
  for (const name of words) {
    if (env.delete(PREFIX + name)) continue
    Object.assign(result, { stderr: `${result.stderr}bash: unalias: ${name}: not found\n`, exitCode: 1 })
  }
  return result
}

function listed(env: Variables): string {
  const names = [...env.keys()].filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length))
  return names
    .sort((a, b) => (a < b ? -1 : 1))
    .map((name) => shown(name, env.get(PREFIX + name) ?? ''))
    .join('')
}

/** In a form that can be read again. */
const shown = (name: string, value: string): string => `alias ${name}='${value.replaceAll("'", "'\\''")}'\n`
