// Bytes that `printf` is given by number: the interpreter's writes the character of that number instead, which above 127
// is two bytes.

import { type Context, inBytes, original, type Result } from '../interpreter-command.ts'

/** Characters that nobody writes stand for the bytes from 128 on while the interpreter is at work. */
const STAND_IN = 0xf700

const IN_FORMAT = /\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|[\s\S])/g
const IN_ARGUMENT = /\\(?:x([0-9a-fA-F]{1,2})|0?([0-7]{1,3})|[\s\S])/g

export async function printf(args: string[], context: Context): Promise<Result> {
  const interpreters = original('printf', context)
  const [format = '', ...rest] = args[0] === '--' ? args.slice(1) : args
  if (format.startsWith('-v') || !args.some((arg) => /\\[x0-7]/.test(arg))) return interpreters(args)
  const marked = [standingIn(format, IN_FORMAT)]
  for (const arg of rest) marked.push(/%[-+ #\d.*]*b/.test(format) ? standingIn(arg, IN_ARGUMENT) : arg)
  const result = await interpreters(marked)
  return { ...result, stdout: backInBytes(inBytes(result)), stdoutKind: 'bytes' }
}

function standingIn(text: string, escapes: RegExp): string {
  return text.replace(escapes, (whole: string, hex?: string, octal?: string) => {
    const byte = hex === undefined ? Number.parseInt(octal ?? '0', 8) & 0xff : Number.parseInt(hex, 16)
    return byte < 0x80 ? whole : String.fromCharCode(STAND_IN + byte)
  })
}

/** In UTF-8 a stand-in is EF, 9E or 9F, and a byte that tells the rest. */
function backInBytes(latin1: string): string {
  return latin1.replace(/\xef([\x9e\x9f])([\x80-\xbf])/g, (_, half: string, low: string) =>
    String.fromCharCode(low.charCodeAt(0) + (half === '\x9f' ? 0x40 : 0)),
  )
}
