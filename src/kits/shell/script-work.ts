// Estimates the time of the interpreter's parser for a text. For each bracket that may open a list or a pattern it
// searches the closing one, possibly through the whole rest, and for each index it copies the word so far: a text of
// only brackets would block everything else for minutes. The work is computed here without doing it, in linear time.

/** In nanoseconds, on a slow machine. */
const MAX_WORK = 1_000_000_000
const SCAN = 16
const SCAN_PATTERN = 32
const COPY = 1.5
const SUBSTITUTE = 50
/** The relative time of a search that the runtime does itself. */
const SEARCH = 0.33

/** For `[[:digit:]]` and similar: at each of them, unclosed ones are searched again. */
const MAX_NAMED_CLASSES = 100
const MAX_ROW_OF_PARENTHESES = 3000
/** The parser removes them one by one from the front of a list, which is slow for a long one. */
const HEREDOC_WORK = 0.2

const OPENING = /[{[(]|<</g
const TOO_DEEP = new RegExp(`\\({${MAX_ROW_OF_PARENTHESES}}`)

/** Why a script is not parsed, or null. Every text is checked before it is passed to the parser. */
export function refusedScript(text: string): string | null {
  if (text.length > MAX_ROW_OF_PARENTHESES && TOO_DEEP.test(text)) {
    return `bash: the script is not run: it has more than ${MAX_ROW_OF_PARENTHESES} parentheses in a row`
  }
  if (parsingWork(text) <= MAX_WORK) return null
  return 'bash: the script is not run: it has so many brackets that are left open, or so far from those that close them, that reading it would take too long'
}

function parsingWork(text: string): number {
  const brackets = text.match(OPENING)?.length ?? 0
  const most = brackets * text.length * SUBSTITUTE
  if (most <= MAX_WORK && (text.match(/\[[:.=]/g)?.length ?? 0) <= MAX_NAMED_CLASSES) return most
  const { work, braces } = copyingWork(text)
  return work + scanningWork(text, braces) + heredocWork(text)
}

function heredocWork(text: string): number {
  let work = 0
  for (const line of text.split('\n')) work += (line.match(/<</g)?.length ?? 0) ** 2 * HEREDOC_WORK
  return work
}

/** The parser ignores quotes when it searches a closing bracket, and so does this function: from the end to the beginning. */
function scanningWork(text: string, open: Uint8Array): number {
  const classes = classWork(text)
  const wordEnds = endsOfWords(text)
  const [braces, parentheses]: [number[], number[]] = [[], []]
  let work = 0
  for (let at = text.length - 1; at >= 0; at--) {
    const char = text[at]
    if (char === '}') braces.push(at)
    else if (char === ')') parentheses.push(at)
    else if (char === '[') work += SCAN * (classes[at + 1] ?? 0)
    else if (char === '{') {
      const end = braces.pop() ?? wordEnds[at + 1] ?? at
      if (open[at]) work += SCAN * (/\s/.test(text[at + 1] ?? ' ') ? 1 : end - at)
    } else if (char === '(') work += parenthesisWork(text, at, parentheses.pop())
  }
  return work
}

function parenthesisWork(text: string, at: number, closing: number | undefined): number {
  const before = text[at - 1] ?? ''
  if (before === '$') return SUBSTITUTE * ((closing ?? text.length) - at)
  // An unclosed one starts arithmetic, in which no other is searched.
  if (before === '(') return closing === undefined ? 0 : SCAN * (closing - at)
  return /[@?*+!]/.test(before) ? SCAN_PATTERN * ((closing ?? text.length) - at) : 0
}

/** By position: how much text is searched for the end of a character class that has started before it. */
function classWork(text: string): Float64Array {
  const work = new Float64Array(text.length + 2)
  let quote = -1
  const ends: Record<string, number> = { ':': -1, '.': -1, '=': -1 }
  for (let at = text.length - 1; at >= 0; at--) {
    const char = text[at] ?? ''
    const next = text[at + 1] ?? ''
    let left = work[at + 1] ?? 0
    if (char === ']' || char === '"' || char === '$' || char === '`') left = 0
    else if (char === '\\') left = next === '"' || next === "'" ? 0 : (work[at + 2] ?? 0)
    else if (char === "'") {
      if (quote !== -1) left = work[quote + 1] ?? 0
      quote = at
    } else if (char === '[' && next in ends) {
      const end = ends[next] ?? -1
      left = end > at + 1 ? (work[end + 2] ?? 0) : left + (text.length - at) * SEARCH
    }
    if (next === ']' && char in ends) ends[char] = at
    work[at] = left + 1
  }
  return work
}

/** By position: the end of an unquoted word there. */
function endsOfWords(text: string): Int32Array {
  const ends = new Int32Array(text.length + 2).fill(text.length)
  const quotes: Record<string, number> = { "'": -1, '"': -1 }
  for (let at = text.length - 1; at >= 0; at--) {
    const char = text[at] ?? ''
    const quote = quotes[char]
    if (char === '\n') ends[at] = at
    else if (char === '\\') ends[at] = ends[at + 2] ?? text.length
    else if (quote !== undefined && quote !== -1) ends[at] = ends[quote + 1] ?? text.length
    else ends[at] = ends[at + 1] ?? text.length
    if (quote !== undefined && text[at - 1] !== '\\') quotes[char] = at
  }
  return ends
}

const TOKEN =
  /\\[\s\S]|'[^']*'|"(?!\$\()(?:[^"\\]|\\[\s\S])*"|#[^\n]*|<<-?[ \t]*['"\\]?[\w-]+|\)"|[[\]{\n \t;&|()<>]|[^\\'"#<[\]{\n \t;&|()>]+|[\s\S]/g
const ENDS_WORD = /^[ \t;&|()<>]$/

/**
 * A word is copied at each bracket of an index. Quoted text and here-documents are not searched. Also returns the
 * positions of braces, because the parser searches only those.
 */
function copyingWork(text: string): { work: number; braces: Uint8Array } {
  const braces = new Uint8Array(text.length)
  let [work, word, depth] = [0, 0, 0]
  const heredocs: string[] = []
  TOKEN.lastIndex = 0
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [token] = match
    const { index } = match
    if (token === '\n') {
      if (heredocs.length > 0) TOKEN.lastIndex = afterHeredocs(text, TOKEN.lastIndex, heredocs.splice(0))
      ;[word, depth] = [TOKEN.lastIndex, 0]
    } else if (token === '{') braces[index] = 1
    else if (ENDS_WORD.test(token) || token === ')"') {
      if (depth === 0) word = TOKEN.lastIndex
    } else if (token === '[' || token === ']') {
      work += COPY * (index - word)
      if (token === ']') depth = Math.max(0, depth - 1)
      else if (depth > 0 || IS_SHORT_NAME.test(text.slice(word, Math.min(index, word + MAX_NAME + 1)))) depth++
    } else if (token.startsWith('<<')) heredocs.push(token.replace(/^<<-?[ \t]*['"\\]?/, ''))
    else if (token.startsWith('#') && index > word) TOKEN.lastIndex = index + 1
    else if (depth > 0 && /^['"]/.test(token)) TOKEN.lastIndex = index + 1
  }
  return { work, braces }
}

const MAX_NAME = 100
const IS_SHORT_NAME = new RegExp(`^[A-Za-z_]\\w{0,${MAX_NAME - 1}}$`)

function afterHeredocs(text: string, start: number, delimiters: readonly string[]): number {
  let at = start
  for (const delimiter of delimiters) {
    const end = new RegExp(`^\\t*${delimiter}$`, 'm')
    const found = end.exec(text.slice(at))
    at = found === null ? text.length : at + found.index + found[0].length
  }
  return at
}
