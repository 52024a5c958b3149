// The order of version numbers in names: `a2` before `a10`, `1.0~rc1` before `1.0`.

const SUFFIX = /(?:\.[A-Za-z~][A-Za-z0-9~]*)*$/

export function compareVersions(a: string, b: string): number {
  const [first, second] = [rank(a), rank(b)]
  if (first !== second) return first - second
  if (first < HIDDEN) return 0
  const [stemA, stemB] = [a.replace(SUFFIX, ''), b.replace(SUFFIX, '')]
  const byStem = compareParts(stemA, stemB)
  return byStem !== 0 || stemA.length + stemB.length === a.length + b.length ? byStem : compareParts(a, b)
}

const HIDDEN = 3

/** Empty, the folder itself, its parent, hidden names, all others. */
function rank(name: string): number {
  if (name === '') return 0
  if (name === '.') return 1
  if (name === '..') return 2
  return name.startsWith('.') ? HIDDEN : HIDDEN + 1
}

/** Compares text by characters and numbers by value, in turn. */
function compareParts(a: string, b: string): number {
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    while ((i < a.length && !isDigit(a, i)) || (j < b.length && !isDigit(b, j))) {
      const difference = weight(a, i) - weight(b, j)
      if (difference !== 0) return difference
      i++
      j++
    }
    while (a[i] === '0') i++
    while (b[j] === '0') j++
    let difference = 0
    while (isDigit(a, i) && isDigit(b, j)) {
      if (difference === 0) difference = a.charCodeAt(i) - b.charCodeAt(j)
      i++
      j++
    }
    if (isDigit(a, i)) return 1
    if (isDigit(b, j)) return -1
    if (difference !== 0) return difference
  }
  return 0
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 48 && code <= 57
}

/** A tilde comes before the end, the end before letters, letters before everything else. */
function weight(text: string, at: number): number {
  if (at >= text.length) return -1
  const code = text.charCodeAt(at)
  if (code >= 48 && code <= 57) return 0
  if ((code >= 65 && code <= 90) || (code >= 97 && code <= 122)) return code
  return code === 126 ? -2 : code + 256
}
