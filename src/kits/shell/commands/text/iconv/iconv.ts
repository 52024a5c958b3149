// `iconv`: converts text from one encoding to another.

import type { TextCall } from '../call.ts'
import { refusal } from '../misuse.ts'
import { type GivenOptions, optionTable, readOptions } from '../options.ts'
import { type Encoding, encodingOf } from './encodings.ts'

const OPTIONS = optionTable('from-code=f: to-code=t: c output=o: silent=s')
const CHARS_AT_ONCE = 16_384
const USUAL = 'UTF-8'

interface Conversion {
  from: Encoding
  to: Encoding
  /** Characters that cannot be converted are left out. */
  skips: boolean
  /** They are left out, and reported at the end. */
  tells: boolean
  transliterates: boolean
}

export async function iconv(call: TextCall): Promise<void> {
  call.misuseExit = 64
  const given = readOptions(call.args, OPTIONS)
  const conversion = conversionOf(given)
  const inputs: string[] = []
  for (const name of given.operands.length > 0 ? given.operands : ['-']) {
    const bytes = await call.input(name, (reason) => `cannot open input file \`${name}': ${reason}`)
    if (bytes !== null) inputs.push(bytes)
  }
  const parts: string[] = []
  const problem = await convert(call, { bytes: inputs.join(''), parts, conversion })
  const output = given.value('o')
  if (output === undefined) call.write(parts.join(''))
  else await call.save(output, parts.join(''))
  if (problem !== null) call.complain(problem)
}

function conversionOf(given: GivenOptions): Conversion {
  const [fromName = USUAL] = (given.value('f') ?? USUAL).split('//')
  const [toName = USUAL, ...ways] = (given.value('t') ?? USUAL).split('//')
  const [from, to] = [encodingOf(fromName || USUAL), encodingOf(toName || USUAL)]
  if (!from) throw refusal(`conversion from \`${fromName}' is not available here`, 1)
  if (!to) throw refusal(`conversion to \`${toName}' is not available here`, 1)
  const isIgnoring = ways.some((way) => way.toUpperCase() === 'IGNORE')
  const transliterates = ways.some((way) => way.toUpperCase() === 'TRANSLIT')
  return { from, to, skips: given.has('c') || isIgnoring, tells: isIgnoring && !given.has('c'), transliterates }
}

type Work = { bytes: string; parts: string[]; conversion: Conversion }

/** The error in the input; everything before it was converted. */
async function convert(call: TextCall, { bytes, parts, conversion }: Work): Promise<string | null> {
  const { from, to, skips, tells, transliterates } = conversion
  let [part, hasSkipped] = ['', false]
  const keep = () => {
    parts.push(part)
    part = ''
  }
  for (let at = 0, count = 1; at < bytes.length; count++) {
    if (count % CHARS_AT_ONCE === 0) {
      keep()
      await call.pause()
    }
    const { code, length } = from.read(bytes, at)
    if (length < 0) {
      keep()
      return skips ? null : 'incomplete character or shift sequence at end of buffer'
    }
    const written = length === 0 ? null : code < 0 ? '' : to.write(code)
    if (written === null && !skips) {
      keep()
      if (transliterates && length > 0)
        return `${character(code)} at position ${at}: transliteration is not available here`
      return `illegal input sequence at position ${at}`
    }
    if (written === null) hasSkipped = true
    if (at === 0 && written !== null) part += to.mark
    part += written ?? ''
    at += Math.max(1, length)
  }
  keep()
  return hasSkipped && tells ? `illegal input sequence at position ${bytes.length}` : null
}

function character(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
