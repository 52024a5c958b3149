// Options of `shopt` that the interpreter does not know, or accepts without an effect.

import type { StepResult } from './shape.ts'

const OWN = ['execfail', 'inherit_errexit', 'patsub_replacement', 'shift_verbose'] as const
export type OwnOption = (typeof OWN)[number]

/** At the start of a shell. */
export const OWN_OPTIONS: ReadonlySet<OwnOption> = new Set(['patsub_replacement'])

/** The active options of a shell. */
interface Options {
  ownOptions: Set<OwnOption>
}

export function isOn({ ownOptions }: Options, name: OwnOption): boolean {
  return ownOptions.has(name)
}

/** Null if it must be handled by the interpreter: anything except only these options. */
export function runShopt({ ownOptions }: Options, args: readonly string[]): StepResult | null {
  const names = args.filter((arg) => !arg.startsWith('-'))
  if (names.includes('extdebug') && args.includes('-s')) {
    return { stdout: '', stderr: 'bash: shopt: extdebug: is not available here\n', exitCode: 1 }
  }
  const own = names.filter((name): name is OwnOption => (OWN as readonly string[]).includes(name))
  if (own.length === 0) return null
  const letters = args
    .filter((arg) => arg.startsWith('-'))
    .join('')
    .replaceAll('-', '')
  if (own.length < names.length || !/^[suqp]?$/.test(letters)) {
    const stderr = `bash: shopt: ${own[0]}: is to be named alone here\n`
    return { stdout: '', stderr, exitCode: 1 }
  }
  if (letters === 's') for (const name of own) ownOptions.add(name)
  if (letters === 'u') for (const name of own) ownOptions.delete(name)
  if (letters === 's' || letters === 'u') return { stdout: '', stderr: '', exitCode: 0 }
  const lines = own.map((name) => line(name, ownOptions.has(name), letters === 'p'))
  const exitCode = own.every((name) => ownOptions.has(name)) ? 0 : 1
  return { stdout: letters === 'q' ? '' : lines.join(''), stderr: '', exitCode }
}

/** The same width as in bash. */
const NAME_WIDTH = 15

function line(name: string, isSet: boolean, asCommand: boolean): string {
  return asCommand ? `shopt -${isSet ? 's' : 'u'} ${name}\n` : `${name.padEnd(NAME_WIDTH)}\t${isSet ? 'on' : 'off'}\n`
}
