// Where a text stops being JSON. The runtime's parser names no position for half of its errors, and the 422 of malformed
// JSON carries one. This scan only runs after the parser refused a text; it keeps its own stack, so depth cannot hurt it.

export type JsonBreak = {
  /** In characters, from 0; the length of the text when it merely ended too early. */
  offset: number
  reason: string
}

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | 'end of value'
type Scan = { at: number; expected: Expected; open: ('{' | '[')[] }

const SPACE = /[ \t\n\r]*/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** The first place at which the text is not JSON, or null when all of it is. */
export function findJsonBreak(text: string): JsonBreak | null {
  const scan: Scan = { at: 0, expected: 'value', open: [] }
  for (;;) {
    scan.at = endOf(SPACE, text, scan.at) ?? scan.at
    if (scan.at >= text.length && scan.expected === 'end of value' && scan.open.length === 0) return null
    const found = step(text, scan)
    if (found !== null) return { offset: charactersBefore(text, found.offset), reason: found.reason }
  }
}

function step(text: string, scan: Scan): JsonBreak | null {
  if (scan.expected === 'end of value') return afterValue(text, scan)
  return scan.expected.startsWith('key') ? key(text, scan) : value(text, scan)
}

function value(text: string, scan: Scan): JsonBreak | null {
  const char = text[scan.at]
  if (char === '{' || char === '[') {
    scan.open.push(char)
    scan.at++
    scan.expected = char === '{' ? 'key or }' : 'value or ]'
    return null
  }
  if (char === ']' && scan.expected === 'value or ]') return close(scan)
  const end = char === '"' ? endOfString(text, scan.at) : endOf(SCALAR, text, scan.at)
  if (end === null) return { offset: scan.at, reason: 'Expecting value' }
  if (typeof end !== 'number') return end
  scan.at = end
  scan.expected = 'end of value'
  return null
}

function key(text: string, scan: Scan): JsonBreak | null {
  if (text[scan.at] === '}' && scan.expected === 'key or }') return close(scan)
  if (text[scan.at] !== '"') return { offset: scan.at, reason: 'Expecting property name enclosed in double quotes' }
  const end = endOfString(text, scan.at)
  if (typeof end !== 'number') return end
  const colon = endOf(SPACE, text, end) ?? end
  if (text[colon] !== ':') return { offset: colon, reason: "Expecting ':' delimiter" }
  scan.at = colon + 1
  scan.expected = 'value'
  return null
}

function afterValue(text: string, scan: Scan): JsonBreak | null {
  const innermost = scan.open.at(-1)
  if (innermost === undefined) return { offset: scan.at, reason: 'Extra data' }
  const char = text[scan.at]
  if (char === (innermost === '{' ? '}' : ']')) return close(scan)
  if (char !== ',') return { offset: scan.at, reason: "Expecting ',' delimiter" }
  scan.at++
  scan.expected = innermost === '{' ? 'key' : 'value'
  return null
}

function close(scan: Scan): null {
  scan.open.pop()
  scan.at++
  scan.expected = 'end of value'
  return null
}

/** The index behind the closing quote. A loop, because a pattern with an alternation overflows on megabytes. */
function endOfString(text: string, start: number): number | JsonBreak {
  for (let at = start + 1; at < text.length; ) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return at + 1
    if (code < 0x20) return { offset: at, reason: 'Invalid control character at' }
    if (code !== 0x5c) at++
    else {
      const end = endOf(ESCAPE, text, at)
      if (end === null) return { offset: at, reason: 'Invalid \\escape' }
      at = end
    }
  }
  return { offset: start, reason: 'Unterminated string starting at' }
}

/** Where a sticky pattern ends when it matches at `start`, or null. */
function endOf(pattern: RegExp, text: string, start: number): number | null {
  pattern.lastIndex = start
  return pattern.test(text) ? pattern.lastIndex : null
}

/** Clients count characters, the scan counts UTF-16 units: a pair of surrogates is one character. */
function charactersBefore(text: string, index: number): number {
  let pairs = 0
  for (let i = 1; i < index; i++) {
    const isLow = (text.charCodeAt(i) & 0xfc00) === 0xdc00
    if (isLow && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) pairs++
  }
  return index - pairs
}
