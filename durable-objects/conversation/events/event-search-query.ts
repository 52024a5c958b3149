// What a search for a text means, and what the index and SQL can say about it beforehand.
//
// A text is found in an event when the event's JSON, in small letters, holds it, in small letters, as it stands or as
// JSON escapes it: `matches` decides that and nothing else does. The index knows folded groups of three characters, and
// LIKE knows ASCII's two cases. Both must never miss an event that matches, so both are only asked about characters
// whose every spelling they take for the same one:
// - a character without case has one spelling;
// - of a letter the index folds every capital that `toLowerCase` turns into it, but for some scripts of later Unicode
//   versions, which it does not know;
// - LIKE folds ASCII only, and does not know the Kelvin sign, whose small letter is a plain `k`;
// - one capital becomes two characters, `İ` an `i` and a dot: these two may be halves of it, at the ends of a text too;
// - half of a surrogate pair is no character at all for SQLite.

export type TextQuery = {
  matches(body: string): boolean
  /**
   * Every matching event is LIKE one of these, with a backslash as the escape; null when LIKE cannot narrow the search.
   */
  patterns: string[] | null
  /**
   * One entry for each form in which an event may contain the text. Every matching event has all terms of one of them.
   */
  forms: IndexTerms[]
}

/**
 * `groups` are in the index together. A text that is too short for a group is found by any group that begins with
 * `prefix`. Null when the index cannot narrow the search.
 */
export type IndexTerms = { groups: string[] } | { prefix: string } | null

/** SQLite in this runtime accepts no longer patterns. */
const MAX_PATTERN_BYTES = 50
/** More groups than these make a search slower, but hardly more selective. */
const MAX_GROUPS = 12
const GROUP = 3
/** Characters of a text that the index and LIKE are given. */
const MAX_LENGTH = 2_000

/** Small letters of which the index folds every capital; a test checks all of Unicode. */
const FOLDED_LETTER = /[a-z\u0080-\u017f\u0370-\u03f2\u0400-\u0527\u1e00-\u1fff]/
/** Those of them that the index folds into another letter. */
const RESPELT = /[\u00b5\u017f\u03c2\u03d0\u03d1\u03d5\u03d6\u03f0\u03f1\u1e9b\u1fbe]/
const COMBINING_DOT = '\u0307'
/** The last character of a JSON value: a text, an object, a list, a number, `true`, `false` or `null`. */
const END_OF_VALUE = /["{}\]0-9el]/
/** SQLite replaces these by another character. */
const NONCHARACTER = /[\ufffe\uffff]/

type Character = { text: string; isIndexed: boolean; isLiteral: boolean }

export function textQuery(query: string): TextQuery {
  const plain = query.toLowerCase()
  const escaped = JSON.stringify(query).slice(1, -1).toLowerCase()
  // JSON never holds a raw control character.
  const forms = escaped === plain ? [plain] : [...plain].some((each) => each < ' ') ? [escaped] : [plain, escaped]
  const runs = forms.map(runsOf)
  const patterns = runs.map(patternOf)
  return {
    matches: (body) => {
      const text = body.toLowerCase()
      return forms.some((form) => text.includes(form))
    },
    patterns: patterns.every((pattern) => pattern !== null) ? patterns : null,
    forms: runs.map(termsOf),
  }
}

/** The parts of a text whose characters correspond one to one to characters of an event. */
function runsOf(form: string): Character[][] {
  // An event that contains the whole text contains its beginning.
  const texts = [...form.slice(0, MAX_LENGTH)]
  const runs: Character[][] = [[]]
  for (const [i, text] of texts.entries()) {
    const next = texts[i + 1]
    const mayBeHalf = text === COMBINING_DOT || (text === 'i' && (next === undefined || next === COMBINING_DOT))
    if (mayBeHalf || !text.isWellFormed()) runs.push([])
    else runs.at(-1)?.push(characterOf(text))
  }
  return runs.filter((run) => run.length > 0)
}

const isAscii = (text: string): boolean => text < '\u0080'

function characterOf(text: string): Character {
  const hasCase = text !== text.toUpperCase()
  return {
    text,
    isIndexed: !NONCHARACTER.test(text) && (!hasCase || FOLDED_LETTER.test(text)),
    isLiteral: isAscii(text) ? text !== 'k' : !hasCase,
  }
}

/** The part of a run with the most characters that LIKE accepts, as a pattern. */
function patternOf(runs: Character[][]): string | null {
  const stretches = runs.map((run) =>
    stretchOf(
      run.slice(
        Math.max(
          run.findIndex(({ isLiteral }) => isLiteral),
          0,
        ),
      ),
    ),
  )
  const best = stretches.reduce((most, each) => (each.literals > most.literals ? each : most), {
    text: '',
    literals: 0,
  })
  return best.literals === 0 ? null : `%${best.text}%`
}

function stretchOf(run: Character[]): { text: string; literals: number } {
  const stretch = { text: '', literals: 0 }
  for (const { text, isLiteral } of run) {
    const part = isLiteral ? text.replace(/[\\%_]/, '\\$&') : '_'
    if (new TextEncoder().encode(stretch.text + part).length > MAX_PATTERN_BYTES - 2) break
    stretch.text += part
    if (isLiteral) stretch.literals += 1
  }
  return stretch
}

function termsOf(runs: Character[][]): IndexTerms {
  const indexed = runs.flatMap(splitAtUnindexed)
  const groups = [...new Set(indexed.flatMap(groupsOf))]
  if (groups.length > 0) return { groups: spread(groups, MAX_GROUPS) }
  const prefix = indexed.map((run) => run.map(({ text }) => text).join('')).find(isPrefix)
  return prefix === undefined ? null : { prefix }
}

function splitAtUnindexed(run: Character[]): Character[][] {
  const parts: Character[][] = [[]]
  for (const character of run) {
    if (character.isIndexed) parts.at(-1)?.push(character)
    else parts.push([])
  }
  return parts.filter((part) => part.length > 0)
}

function groupsOf(run: Character[]): string[] {
  const texts = run.map(({ text }) => text)
  return texts.slice(GROUP - 1).map((_, i) => texts.slice(i, i + GROUP).join(''))
}

/**
 * Whether every event that contains this text has a group that begins with it, in this spelling. False for a text that
 * may be at the end of an event, which is the end of a value and a brace: no group begins there.
 */
function isPrefix(text: string): boolean {
  if (RESPELT.test(text)) return false
  return [...text].length === 1 ? !END_OF_VALUE.test(text) : !text.endsWith('}')
}

/** This many of them, evenly distributed. */
function spread(items: string[], count: number): string[] {
  const step = Math.max(items.length / count, 1)
  return items.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step))
}
