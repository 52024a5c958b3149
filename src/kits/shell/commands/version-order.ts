// The order of names with numbers, for `sort -V` and `ls -v`.

const SUFFIX = /(?:\.[A-Za-z~][A-Za-z0-9~]*)*$/

/** Like GNU's `filevercmp`. */
export function compareVersions(a: string, b: string): number {
  if (a === b) return 0
  for (const special of ['', '.', '..']) {
    if (a === special) return -1
    if (b === special) return 1
  }
  const [isHiddenA, isHiddenB] = [a.startsWith('.'), b.startsWith('.')]
  if (isHiddenA !== isHiddenB) return isHiddenA ? -1 : 1
  const [left, right] = isHiddenA ? [a.slice(1), b.slice(1)] : [a, b]
  const stems = compareParts(left.replace(SUFFIX, ''), right.replace(SUFFIX, ''))
  return stems || compareParts(left, right) || (a < b ? -1 : 1)
}

/** Alternating runs of other characters and of digits. */
function compareParts(a: string, b: string): number {
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    while ((i < a.length && !isDigit(a[i])) || (j < b.length && !isDigit(b[j]))) {
      const difference = orderOf(a[i]) - orderOf(b[j])
      if (difference !== 0) return difference
      i++
      j++
    }
    const [left, right] = [/^\d*/.exec(a.slice(i))?.[0] ?? '', /^\d*/.exec(b.slice(j))?.[0] ?? '']
    const [plainLeft, plainRight] = [left.replace(/^0+/, ''), right.replace(/^0+/, '')]
    if (plainLeft.length !== plainRight.length) return plainLeft.length - plainRight.length
    if (plainLeft !== plainRight) return plainLeft < plainRight ? -1 : 1
    i += left.length
    j += right.length
  }
  return 0
}

const isDigit = (char: string | undefined): boolean => char !== undefined && char >= '0' && char <= '9'

/** A tilde is before the end, letters are before all other characters. */
function orderOf(char: string | undefined): number {
  if (char === undefined) return -1
  if (isDigit(char)) return 0
  if (char === '~') return -2
  const code = char.codePointAt(0) ?? 0
  return /[A-Za-z]/.test(char) ? code : code + 256
}
