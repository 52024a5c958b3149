// The syntaxes of `-regextype`.

import type { Flavour } from '../regex/pattern-text.ts'
import { FindMisuse } from './misuse.ts'

const BASIC = ['posix-basic', 'posix-minimal-basic', 'grep', 'sed', 'ed']
const EXTENDED = ['posix-extended', 'posix-egrep', 'egrep', 'posix-awk', 'awk', 'gnu-awk']
/** Emacs's syntax, which is the default. */
export const DEFAULT_REGEX_TYPE = 'findutils-default'

export function knownRegexType(name: string): string {
  if ([...BASIC, ...EXTENDED, DEFAULT_REGEX_TYPE, 'emacs'].includes(name)) return name
  const known = [
    'findutils-default',
    'ed',
    'emacs',
    'gnu-awk',
    'grep',
    'posix-awk',
    'awk',
    'posix-basic',
    'posix-egrep',
    'egrep',
    'posix-extended',
    'posix-minimal-basic',
    'sed',
  ]
  throw new FindMisuse(
    `Unknown regular expression type ‘${name}’; valid types are ${known.map((one) => `‘${one}’`).join(', ')}.`,
  )
}

export function flavourOf(type: string): Flavour {
  return BASIC.includes(type) ? 'basic' : 'extended'
}

/** Emacs uses plain repetition operators and escaped groups, and has no counts. */
export function translated(pattern: string, type: string): string {
  if (type !== DEFAULT_REGEX_TYPE && type !== 'emacs') return pattern
  return pattern.replace(
    /\\([\s\S])|\[\^?\]?(?:\[:\w+:\]|[^\]])*\]|([(){}|])/g,
    (found, escaped?: string, bare?: string) => {
      if (bare !== undefined) return `\\${bare}`
      if (escaped !== undefined && /[()|]/.test(escaped)) return escaped
      return found
    },
  )
}
