// A command that runs another one looks for it by itself: what a shell says of a missing one is said in its own words.

import type { Result } from '../interpreter-command.ts'

export const NOT_FOUND = 127

/** `words` stand before the reason. */
export function inOwnWords(result: Result, command: string, words: string): Result {
  const missing = `bash: ${command}: command not found\n`
  if (result.exitCode !== NOT_FOUND || !result.stderr.endsWith(missing)) return result
  return { ...result, stderr: `${words}: No such file or directory\n` }
}
