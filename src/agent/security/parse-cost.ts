// What it costs to parse a text, before it is parsed: for each bracket that may open a list or a pattern the parser looks
// through the rest of the word, and for a pattern such as `@(` through the rest of the text.

const OPENS = /[{[(]/g
const OPENS_PATTERN = /[@?*+!]\(/g
/** Texts whose brackets cannot cost much, however they stand. */
const CHEAP = 100_000

/** Each letter costs something by itself. */
const BY_LETTER = 20

/** Indexes that stand in each other are looked through again and again. */
const BY_DEPTH = 4

/**
 * `open`: indexes of the word that are not closed yet, and `deepest` the most of them at a time. For those that are not
 * closed in the word the parser looks through the rest of the text.
 */
type State = {
  word: number
  brackets: number
  open: number
  deepest: number
  cost: number
  quote: string
  readonly length: number
}

/** In steps of the parser, of which some ten millions take a second. */
export function costOf(text: string): number {
  const brackets = text.match(OPENS)?.length ?? 0
  const patterns = text.match(OPENS_PATTERN)?.length ?? 0
  const whole = (brackets + patterns) * text.length
  const letters = text.length * BY_LETTER
  if (whole <= CHEAP) return letters + whole
  return letters + patterns * text.length + costOfWords(text)
}

/** By words, quoted blanks being a part of them. Bodies of heredocs in quotes are passed over. */
function costOfWords(text: string): number {
  const state: State = { word: 0, brackets: 0, open: 0, deepest: 0, cost: 0, quote: '', length: text.length }
  const ends: string[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? ''
    state.word++
    if (state.quote !== "'" && char === '\\') at++
    else if (state.quote !== '') inQuotes(state, char)
    else if (char === "'" || char === '"') state.quote = char
    else if (char === '#' && state.word === 1) at = lineEnd(text, at) - 1
    else if (char === '<' && text[at + 1] === '<') {
      const [, ...names] = HEREDOC.exec(text.slice(at, at + MAX_END)) ?? []
      const end = names.find((name) => name !== undefined)
      if (end !== undefined) ends.push(end)
    } else if (/\s/.test(char)) {
      endWord(state)
      if (char === '\n') for (const end of ends.splice(0)) at = bodyEnd(text, at, end)
    } else if (isBracket(char)) {
      state.brackets++
      if (char === '[' && state.word > 1) state.deepest = Math.max(state.deepest, ++state.open)
    } else if (char === ']') state.open--
  }
  endWord(state)
  return state.cost
}

const MAX_END = 100
const HEREDOC = /^<<-?[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\([\w.-]+))/

const isBracket = (char: string) => char === '{' || char === '[' || char === '('

function inQuotes(state: State, char: string): void {
  if (char === state.quote) state.quote = ''
  else if (state.quote === '"' && isBracket(char)) state.brackets++
}

function endWord(state: State): void {
  const { word, brackets, open, deepest } = state
  state.cost += word * brackets + Math.max(0, open) * state.length + (deepest ** 2 * word) / BY_DEPTH
  state.word = 0
  state.open = 0
  state.deepest = 0
  state.brackets = 0
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

/** Where the line ends that ends the body; the text's end if there is none. */
function bodyEnd(text: string, from: number, end: string): number {
  const close = text.slice(from).search(new RegExp(`\\n\\t*${end.replace(/[^\w]/g, '\\$&')}(?=\\n|$)`))
  return close < 0 ? text.length : lineEnd(text, from + close + 1)
}
