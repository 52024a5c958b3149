// Makes different spellings of a name equal: case, blanks, and traditional characters.

import { SIMPLIFIED, TRADITIONAL } from './traditional.generated.ts'

const FIRST = 0x3400
const LAST = 0x9fff

let table: Uint16Array | null = null

/** The simplified form of each character of the block; 0 if the character is unchanged. */
function simplifiedForms(): Uint16Array {
  if (table === null) {
    table = new Uint16Array(LAST - FIRST + 1)
    for (let i = 0; i < TRADITIONAL.length; i++) table[TRADITIONAL.charCodeAt(i) - FIRST] = SIMPLIFIED.charCodeAt(i)
  }
  return table
}

/** The form of a name for comparison: lower case, simplified characters, single blanks. */
export function fold(text: string): string {
  const forms = simplifiedForms()
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isPlain = isHanCode(code) ? forms[code - FIRST] === 0 : isLowerOrDigit(code)
    if (!isPlain) return folded(text, forms)
  }
  return text
}

function folded(text: string, forms: Uint16Array): string {
  const lower = text.trim().replace(/\s+/g, ' ').toLowerCase()
  let simplified = ''
  for (let i = 0; i < lower.length; i++) {
    const code = lower.charCodeAt(i)
    const form = isHanCode(code) ? (forms[code - FIRST] ?? 0) : 0
    simplified += form === 0 ? lower.charAt(i) : String.fromCharCode(form)
  }
  return simplified
}

export function isHan(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (isHanCode(text.charCodeAt(i))) return true
  return false
}

const isHanCode = (code: number): boolean => code >= FIRST && code <= LAST
const isLowerOrDigit = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 48 && code <= 57)
