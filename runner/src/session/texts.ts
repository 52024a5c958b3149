// Texts for calls that cannot be executed, and the meaning of keys.

import type { CallStart } from '../../../src/runners/wire.ts'

/** A terminal cuts a longer line silently. */
const LONGEST_LINE_BYTES = 4095

const KEYS: Readonly<Record<string, string>> = { 'C-c': '\x03', 'C-d': '\x04', 'C-z': '\x1a', 'C-\\': '\x1c' }

/** Null if the call can be executed. */
export function refusalOf(call: CallStart, session: { isRunning: boolean; hasEnded: boolean }): string | null {
  if (call.kind === 'run') {
    if (!session.isRunning) return null
    return 'The last command still runs, so this one was not started. Wait for more output with an empty command, send text to it with is_input, or stop it with C-c (is_input).'
  }
  if (!session.isRunning && !session.hasEnded) {
    return call.kind === 'input'
      ? 'No command runs that could take this input.'
      : 'No command runs whose output could be waited for.'
  }
  const isTooLong =
    call.kind === 'input' && call.text.split('\n').some((line) => Buffer.byteLength(line) > LONGEST_LINE_BYTES)
  return isTooLong ? `A line of input may have ${LONGEST_LINE_BYTES} bytes; write a longer text to a file.` : null
}

export function keyBytes(text: string): string {
  return KEYS[text.trim()] ?? (text.endsWith('\n') ? text : `${text}\n`)
}

export const NEW_SESSION =
  'The session had ended, so this ran in a new one: variables, functions and jobs of the one before are gone.'
export const HANDED_BACK = 'The runner was stopped while this ran, so it was interrupted.'
/** After a shell ended and its session continues. */
export const NEW_SHELL = {
  saved:
    'The shell ended and a new one took its place, with its folder, exported variables, functions and aliases; other variables and its jobs are gone.',
  unsaved:
    'The shell was killed or replaced, and a new one took its place: folder, variables, functions and jobs of the one before are gone.',
} as const
export const CROWDED =
  'Programs in the background took all the processes that a session may have, so it was ended. This ran in a new one: variables, functions and jobs of the one before are gone.'
