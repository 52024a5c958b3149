// Line ends in the repository and in files: `core.autocrlf`, `core.eol`, and the attributes `text` and `eol`.

import type { AttributeValues } from './attributes.ts'
import { isTrue } from './config-file.ts'

const [NUL, BACKSPACE, TAB, LF, FORM_FEED, CR, ESCAPE, END_OF_FILE, BLANK, DELETE] = [
  0, 8, 9, 10, 12, 13, 27, 26, 32, 127,
]

export interface LineEndSettings {
  autocrlf: 'true' | 'input' | 'false'
  /** The line ends of text files by default. */
  eol: 'lf' | 'crlf'
}

export async function lineEndSettings(setting: (key: string) => Promise<string | null>): Promise<LineEndSettings> {
  const autocrlf = (await setting('core.autocrlf'))?.toLowerCase() ?? 'false'
  const eol = await setting('core.eol')
  return {
    autocrlf: autocrlf === 'input' ? 'input' : isTrue(autocrlf) ? 'true' : 'false',
    eol: eol?.toLowerCase() === 'crlf' ? 'crlf' : 'lf',
  }
}

export interface LineEnds {
  /** Files that look binary, or are stored with CRLF already, are not changed. */
  isGuessed: boolean
  /** The line ends of files in the working tree. */
  files: 'lf' | 'crlf'
}

/** Null if the bytes of a file are stored unchanged. */
export function lineEndsOf(values: AttributeValues, settings: LineEndSettings): LineEnds | null {
  const [text, eol] = [values.get('text') ?? legacyText(values), values.get('eol')]
  if (text === false) return null
  const named = eol === 'lf' || eol === 'crlf' ? eol : null
  const usual = settings.autocrlf === 'true' ? 'crlf' : settings.autocrlf === 'input' ? 'lf' : settings.eol
  if (text === 'auto') return { isGuessed: true, files: named ?? usual }
  if (text === true || text === 'input' || named !== null)
    return { isGuessed: false, files: text === 'input' ? 'lf' : (named ?? usual) }
  if (settings.autocrlf === 'false') return null
  return { isGuessed: true, files: usual }
}

/** The former name of `text`. */
function legacyText(values: AttributeValues): boolean | string | undefined {
  return values.get('crlf')
}

export interface LineStatistics {
  crlf: number
  loneLf: number
  looksBinary: boolean
}

export function lineStatistics(bytes: Uint8Array): LineStatistics {
  let [crlf, loneLf, loneCr, nuls, strange, usual] = [0, 0, 0, 0, 0, 0]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === CR && bytes[at + 1] === LF) {
      crlf++
      at++
    } else if (byte === CR) loneCr++
    else if (byte === LF) loneLf++
    else if (byte === DELETE) strange++
    else if (byte >= BLANK || [BACKSPACE, TAB, ESCAPE, FORM_FEED].includes(byte)) usual++
    else {
      if (byte === NUL) nuls++
      strange++
    }
  }
  if (bytes.at(-1) === END_OF_FILE) strange--
  return { crlf, loneLf, looksBinary: loneCr > 0 || nuls > 0 || usual >> 7 < strange }
}

/** The stored form of a file. `storedCrlf` tells whether the staged version has CRLF. */
export function toStored(bytes: Uint8Array, ends: LineEnds, storedCrlf: () => boolean): Uint8Array {
  const found = lineStatistics(bytes)
  if (found.crlf === 0) return bytes
  if (ends.isGuessed && (found.looksBinary || storedCrlf())) return bytes
  const kept = bytes.filter((byte, at) => !(byte === CR && bytes[at + 1] === LF))
  return new Uint8Array(kept)
}

/** The form in the working tree of stored bytes. */
export function toFile(bytes: Uint8Array, ends: LineEnds): Uint8Array {
  if (ends.files === 'lf') return bytes
  const found = lineStatistics(bytes)
  if (found.loneLf === 0) return bytes
  if (ends.isGuessed && (found.looksBinary || found.crlf > 0)) return bytes
  const made = new Uint8Array(bytes.length + found.loneLf)
  let to = 0
  for (const [at, byte] of bytes.entries()) {
    if (byte === LF && bytes[at - 1] !== CR) made[to++] = CR
    made[to++] = byte
  }
  return made
}

/** The line ends of the bytes, in the terms of `git ls-files --eol`. */
export function lineEndsIn(bytes: Uint8Array): string {
  const { crlf, loneLf, looksBinary } = lineStatistics(bytes)
  if (looksBinary) return '-text'
  if (crlf > 0) return loneLf > 0 ? 'mixed' : 'crlf'
  return loneLf > 0 ? 'lf' : 'none'
}

/** The attributes, in the terms of `git ls-files --eol`. */
export function lineEndAttributes(values: AttributeValues): string {
  const [text, eol] = [values.get('text') ?? legacyText(values), values.get('eol')]
  if (text === false) return '-text'
  const named = eol === 'lf' || eol === 'crlf' ? ` eol=${eol}` : ''
  if (text === 'auto') return `text=auto${named}`
  if (text === 'input') return 'text eol=lf'
  return text === true || named !== '' ? `text${named}` : ''
}
