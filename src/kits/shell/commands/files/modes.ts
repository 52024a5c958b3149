// Parses permissions for `chmod`, `mkdir -m` and `install -m`.

/** The new permissions of a file with other ones; null for an invalid text. */
export type ModeChange = (mode: number, isFolder: boolean) => number

/** The default umask, which all shells here have. */
const UMASK = 0o022
const WHO = { u: 0o4700, g: 0o2070, o: 0o1007, a: 0o7777 } as const
const CLAUSE = /^([ugoa]*)((?:[-+=](?:[rwxXst]*|[ugo]|[0-7]+))+)$/

export function modeChange(text: string, umask = UMASK): ModeChange | null {
  if (/^[0-7]{1,5}$/.test(text)) {
    const bits = Number.parseInt(text, 8)
    if (bits > 0o7777) return null
    // The special bits of a folder are kept unless they are given with five digits.
    return (mode, isFolder) => (isFolder && text.length < 5 ? bits | (mode & 0o6000) : bits)
  }
  const clauses = text.split(',').map((clause) => clauseOf(clause, umask))
  if (clauses.some((clause) => clause === null)) return null
  return (mode, isFolder) => clauses.reduce((bits, clause) => clause?.(bits, isFolder) ?? bits, mode)
}

function clauseOf(text: string, umask: number): ModeChange | null {
  const match = CLAUSE.exec(text)
  if (!match) return null
  const [, who = '', actions = ''] = match
  const isAll = who === ''
  const whom = isAll ? 0o7777 : [...who].reduce((bits, letter) => bits | (WHO[letter as keyof typeof WHO] ?? 0), 0)
  const steps = [...actions.matchAll(/([-+=])([rwxXst]*|[ugo]|[0-7]+)(?=[-+=]|$)/g)]
  return (mode, isFolder) =>
    steps.reduce((bits, [, operator = '', what = '']) => {
      const meant = bitsOf(what, bits, isFolder) & whom & (isAll ? ~umask : 0o7777)
      if (operator === '+') return bits | meant
      if (operator === '-') return bits & ~meant
      const kept = isFolder ? 0o6000 & ~(what.includes('s') ? whom : 0) : 0
      return (bits & (~whom | kept)) | meant
    }, mode)
}

function bitsOf(what: string, mode: number, isFolder: boolean): number {
  if (/^[0-7]+$/.test(what)) return Number.parseInt(what, 8)
  if (/^[ugo]$/.test(what)) {
    const three = (mode >> (what === 'u' ? 6 : what === 'g' ? 3 : 0)) & 7
    return three * 0o111
  }
  let bits = 0
  for (const letter of what) {
    if (letter === 'r') bits |= 0o444
    if (letter === 'w') bits |= 0o222
    if (letter === 'x' || (letter === 'X' && (isFolder || (mode & 0o111) !== 0))) bits |= 0o111
    if (letter === 's') bits |= 0o6000
    if (letter === 't') bits |= 0o1000
  }
  return bits
}

export const octalMode = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0')

/** `rwxr-xr-x`. */
export function letters(mode: number): string {
  const three = (bits: number, special: boolean, letter: string) => {
    const x = bits & 1 ? (special ? letter : 'x') : special ? letter.toUpperCase() : '-'
    return `${bits & 4 ? 'r' : '-'}${bits & 2 ? 'w' : '-'}${x}`
  }
  return (
    three((mode >> 6) & 7, (mode & 0o4000) !== 0, 's') +
    three((mode >> 3) & 7, (mode & 0o2000) !== 0, 's') +
    three(mode & 7, (mode & 0o1000) !== 0, 't')
  )
}
