// Permission bits in text form: `755`, `u+x`, `go-w`, `a=r`.

const WHO: Readonly<Record<string, number>> = { u: 0o4700, g: 0o2070, o: 0o1007, a: 0o7777 }
const BITS: Readonly<Record<string, number>> = { r: 0o444, w: 0o222, x: 0o111, s: 0o6000, t: 0o1000 }

export interface ModeSetting {
  /** Bits that are not changed if no user class is given. */
  umask: number
  /** `X` means `x` for folders, and for files that are executable for someone. */
  isFolder: boolean
}

/** The mode after the change; null for an invalid text. */
export function parseMode(text: string, before: number, { umask, isFolder }: ModeSetting): number | null {
  if (/^[0-7]{1,5}$/.test(text)) return Number.parseInt(text, 8) & 0o7777
  let mode = before
  for (const clause of text.split(',')) {
    const found = /^([ugoa]*)((?:[-+=](?:[rwxXst]*|[ugo]))+)$/.exec(clause)
    if (!found) return null
    const [, who = '', changes = ''] = found
    const mask = who === '' ? 0o7777 & ~umask : [...who].reduce((sum, letter) => sum | (WHO[letter] ?? 0), 0)
    for (const [, sign, letters = ''] of changes.matchAll(/([-+=])([rwxXst]*|[ugo])/g)) {
      const bits = bitsOf(letters, mode, isFolder) & mask
      if (sign === '+') mode |= bits
      else if (sign === '-') mode &= ~bits
      else mode = (mode & ~(mask & (isFolder ? 0o1777 : 0o7777))) | bits
    }
  }
  return mode
}

function bitsOf(letters: string, mode: number, isFolder: boolean): number {
  const copied = { u: 6, g: 3, o: 0 }[letters]
  if (copied !== undefined) return ((mode >> copied) & 7) * 0o111
  return [...letters].reduce((sum, letter) => {
    if (letter === 'X') return sum | (isFolder || (mode & 0o111) !== 0 ? 0o111 : 0)
    return sum | (BITS[letter] ?? 0)
  }, 0)
}
