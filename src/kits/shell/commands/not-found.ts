// A command that runs another program searches for it without a shell. So the shell's message about a missing program is
// replaced by the command's own.

import type { Result } from '../interpreter-command.ts'

const NOT_FOUND = 127

/** `words` is the text before the reason. */
export function inOwnWords(result: Result, command: string, words: string): Result {
  const missing = `bash: ${command}: command not found\n`
  if (result.exitCode !== NOT_FOUND || !result.stderr.endsWith(missing)) return result
  return { ...result, stderr: `${words}: No such file or directory\n` }
}
