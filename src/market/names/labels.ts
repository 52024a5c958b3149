// What kind of instrument a listing is, the common name of its exchange, and the codes in the web client's list.

import type { Listing } from '../../kits/market-names/index.ts'
import { type Instrument, parseCode } from '../instruments.ts'

export type Language = 'zh' | 'en' | 'ko'

const PLACES: Record<Instrument['exchange'], Record<Language, string>> = {
  SH: { zh: '上海', en: 'Shanghai', ko: '상하이' },
  SZ: { zh: '深圳', en: 'Shenzhen', ko: '선전' },
  BJ: { zh: '北京', en: 'Beijing', ko: '베이징' },
  HK: { zh: '香港', en: 'Hong Kong', ko: '홍콩' },
  US: { zh: '美国', en: 'United States', ko: '미국' },
  T: { zh: '东京', en: 'Tokyo', ko: '도쿄' },
  KS: { zh: '首尔', en: 'Seoul', ko: '서울' },
  KQ: { zh: '科斯达克', en: 'KOSDAQ', ko: '코스닥' },
  TW: { zh: '台北', en: 'Taipei', ko: '타이베이' },
  TWO: { zh: '台北柜买', en: 'Taipei Exchange', ko: '타이베이 장외' },
}

export function placeOf({ exchange }: Pick<Instrument, 'exchange'>, language: Language): string {
  return PLACES[exchange][language]
}

type Named = Pick<Listing, 'zh' | 'en' | 'aliases'>

/** The names in the index; the Korean name is the first of the aliases in that script. */
export const namesOf = ({ zh, en, aliases }: Named): Record<Language, string | null> => ({
  zh,
  en,
  ko: aliases.find((alias) => /\p{Script=Hangul}/u.test(alias)) ?? null,
})

/** The listing's name in the language, if it has one. */
export function nameIn(listing: Named, language: Language): string {
  const { zh, en } = listing
  return namesOf(listing)[language] || (language === 'zh' ? zh : en) || zh || en
}

const READ: Record<Language, (typed: string, meant: string) => string> = {
  zh: (typed, meant) => `“${typed}”读作${meant}`,
  en: (typed, meant) => `"${typed}" was read as ${meant}`,
  ko: (typed, meant) => `"${typed}"을(를) ${meant}(으)로 읽었습니다`,
}

/** "X was read as Y (code)". */
export function readingText(
  typed: string,
  listing: Listing | null,
  { key, language }: { key: string; language: Language },
): string {
  const name = listing === null ? '' : nameIn(listing, language)
  const code = language === 'zh' ? `（${key}）` : ` (${key})`
  return READ[language](typed, name === '' || name === key ? key : name + code)
}

/** The instrument of a listing. The code does not identify every fund, and the list does not either. */
export function instrumentOf({ key, kind }: Listing): Instrument {
  const parsed = parseCode(key)
  if (!parsed.ok) throw new Error(`the listing ${key} is not a code`)
  return kind === 'stock' ? parsed.instrument : { ...parsed.instrument, kind }
}

/** The key of the code of which the text is a spelling: `sh600519`, `0700.hk`. Null when it is not a code. */
export function keyOf(text: string): string | null {
  const parsed = parseCode(text)
  return parsed.ok ? parsed.instrument.key : null
}

/** The code with its exchange: `600519.SH`, `00700.HK`, `AAPL`, `SPX`. */
export function canonicalCode({ key, market, exchange, code }: Instrument): string {
  if (market === 'cn') return `${code}.${exchange}`
  return market === 'hk' && /^\d/.test(code) ? `${code}.HK` : key
}
