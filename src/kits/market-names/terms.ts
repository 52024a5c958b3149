// The texts under which a listing is found. The packaged list stores their sorted order. After a change of the texts or
// of their order, run `scripts/derive-names.mjs` again.

import { fold, isHan } from './fold.ts'
import { initialsOf, joinedPinyin, type Listing } from './listing.ts'
import { partsOf } from './speller.ts'

/** The kinds of terms. */
export const TERM = { code: 0, name: 1, pinyin: 2, initials: 3 } as const
export type TermKind = (typeof TERM)[keyof typeof TERM]

// Parts that an exchange adds to a name temporarily or for a class of shares. Users omit them.
const DECORATION = /^(?:s?\*?st|s(?=[^a-z]))|(?:-[a-z]{1,2}|(?<=\p{Script=Han})[ab])$/gu
const MARK_SYLLABLES = /^(?:s?st|s) /

export function eachTerm(listing: Listing, add: (kind: TermKind, text: string) => void): void {
  const { key, zh, en, aliases, pinyin } = listing
  for (const code of codesOf(key.toLowerCase())) add(TERM.code, code)
  const name = fold(zh)
  if (name !== '') add(TERM.name, name)
  const bare = isHan(name) ? name.replace(DECORATION, '') : name
  if (bare !== name && bare.length > 1) add(TERM.name, bare)
  if (en !== '' && en !== zh) add(TERM.name, fold(en))
  for (const alias of aliases) add(TERM.name, fold(alias))
  if (pinyin !== '') addPinyin(pinyin, add)
  for (const alias of aliases) {
    const spelled = spelledPart(fold(alias), { name, pinyin })
    if (spelled !== null) add(TERM.pinyin, spelled)
  }
}

/** The pinyin of an alias that is a part of the name (`茅台` of `贵州茅台`), taken from the name's own syllables. */
function spelledPart(alias: string, { name, pinyin }: { name: string; pinyin: string }): string | null {
  const place = isHan(alias) && alias !== name ? name.indexOf(alias) : -1
  const syllables = pinyin.split(' ')
  if (place < 0 || partsOf(name).length !== syllables.length) return null
  const before = partsOf(name.slice(0, place)).length
  return syllables.slice(before, before + partsOf(alias).length).join('')
}

function addPinyin(pinyin: string, add: (kind: TermKind, text: string) => void): void {
  add(TERM.pinyin, joinedPinyin({ pinyin }))
  add(TERM.initials, initialsOf({ pinyin }))
  const bare = pinyin.replace(MARK_SYLLABLES, '')
  if (bare === pinyin) return
  add(TERM.pinyin, joinedPinyin({ pinyin: bare }))
  add(TERM.initials, initialsOf({ pinyin: bare }))
}

/** The key, the number without its exchange, and for Hong Kong the number with fewer leading zeros. */
function codesOf(key: string): string[] {
  const number = /^(?:sh|sz|bj|hk)?(\d{4,6})(?:\.[a-z]+)?$/.exec(key)?.[1] ?? key
  const codes = number === key ? [key] : [key, number]
  if (!key.startsWith('hk')) return codes
  return [...new Set([...codes, number.replace(/^0/, ''), number.replace(/^0+/, '')])]
}
