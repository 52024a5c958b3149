// `echo`, like bash's: an escape of `-e` can be any byte, but the interpreter's version writes characters.

import type { Context, Result } from '../interpreter-command.ts'
import { outputOf } from '../standard-streams.ts'
import { escapeAt } from './printf/escapes.ts'
import { bytesOf } from './text/bytes.ts'

const FLAGS = /^-[neE]+$/

export async function echo(args: string[], { xpgEcho }: Context): Promise<Result> {
  let [expands, endsLine, at] = [xpgEcho === true, true, 0]
  for (let arg = args[at]; arg !== undefined && FLAGS.test(arg); arg = args[++at]) {
    for (const flag of arg.slice(1)) {
      if (flag === 'n') endsLine = false
      else expands = flag === 'e'
    }
  }
  const text = args.slice(at).join(' ')
  if (!expands || !text.includes('\\')) {
    return { stdout: endsLine ? `${text}\n` : text, stdoutKind: 'text', stderr: '', exitCode: 0 }
  }
  const { bytes, isEnd } = expanded(bytesOf(text))
  return { ...outputOf(endsLine && !isEnd ? `${bytes}\n` : bytes), stderr: '', exitCode: 0 }
}

/** No errors: unknown escapes are unchanged. */
function expanded(text: string): { bytes: string; isEnd: boolean } {
  const parts: string[] = []
  let at = 0
  for (let next = text.indexOf('\\'); next >= 0; next = text.indexOf('\\', at)) {
    // Octal digits must follow a zero, and a quote has no special meaning.
    const isPlain = /["1-7]/.test(text.charAt(next + 1))
    const found = isPlain ? { bytes: '\\', length: 1, isEnd: false } : escapeAt(text, next, true)
    parts.push(text.slice(at, next), found.bytes)
    at = next + found.length
    if (found.isEnd) return { bytes: parts.join(''), isEnd: true }
  }
  return { bytes: parts.join('') + text.slice(at), isEnd: false }
}
