// A quotation of a headline is checked only as a quotation, whatever it says.

import { daysIn, isDay } from './dates.ts'
import type { KnownFacts } from './known.ts'

export type Quotation = {
  /** The text without the quotation and without its source and day. */
  readonly rest: string
  readonly verdict: boolean | null
}

const QUOTED = /[“"‘「『]([^”"」』]{4,}?)[”"」』](?!\S*[“"])|[“"]([^”"]{4,})[”"]/g
const SAYS_HEADLINE = /标题|报道|headline|\breads\b|\bsays\b|제목|기사|전했/i
const NAMES_SOURCE = /《|[(（]|(?<!依)据|\bfrom\b|\bran\b|报道|기사|자 |[은는] (?=\d)|전했/

const bare = (text: string) =>
  text
    .normalize('NFKC')
    .replace(/[\s“”"‘’'。.!！]/g, '')
    .toLowerCase()

/** Null: the text quotes nothing. */
export function quotationIn(text: string, { headlines }: Pick<KnownFacts, 'headlines'>): Quotation | null {
  for (const match of text.matchAll(QUOTED)) {
    const words = bare(match[1] ?? match[2] ?? '')
    const outside = `${text.slice(0, match.index)} ${text.slice(match.index + match[0].length)}`
    const found = headlines.filter(({ title }) => bare(title) === words)
    if (found.length === 0) {
      if (SAYS_HEADLINE.test(outside)) return { rest: '', verdict: false }
      continue
    }
    return { rest: '', verdict: found.some((headline) => isAsNamed(outside, headline)) }
  }
  return null
}

function isAsNamed(outside: string, { source, date }: KnownFacts['headlines'][number]): boolean {
  const days = daysIn(outside)
  if (!days.every((day) => isDay(day, date))) return false
  return !NAMES_SOURCE.test(outside) || (source !== null && outside.includes(source.normalize('NFKC')))
}
