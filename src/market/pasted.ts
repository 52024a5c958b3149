// Pasted text, split into the code and the name in it: lists, search and imports use it; the interface for programs
// stays strict about characters.

import { parseCode } from './instruments.ts'

export type Pasted = { code: string | null; name: string | null }

/**
 * Legal forms at the end or the beginning of a company's name. A "group" or "holding" may be another company, so these
 * are not among them.
 */
const LATIN_FORMS =
  /(?:[\s,]+(?:inc|incorporated|corp|corporation|co|company|ltd|limited|plc|llc|lp|sa|ag|nv|se|spa|kk|gmbh)\.?)+$/i
const LATIN_ARTICLE = /^the\s+/i
const HAN_FORMS = /(?:股份)?有限(?:责任)?公司$|(?:股份)?有限(?:責任)?公司$/
const JAPANESE_FORMS = /^(?:株式会社|\(株\))\s*|\s*(?:株式会社|\(株\))$/g
const KOREAN_FORMS = /^(?:주식회사|\(주\))\s*|\s*(?:주식회사|\(주\))$/g

/** How web pages write an exchange before a code: `NASDAQ: AAPL`, `SHA:600519`. */
const EXCHANGES: Readonly<Record<string, (code: string) => string>> = {
  ...of(['NASDAQ', 'NYSE', 'NYSEARCA', 'NYSEAMERICAN', 'AMEX', 'BATS', 'US'], (code) => code),
  ...of(['SH', 'SHA', 'SSE', 'SHSE'], (code) => `${code}.SH`),
  ...of(['SZ', 'SHE', 'SZSE'], (code) => `${code}.SZ`),
  ...of(['BJ', 'BSE', 'BJSE'], (code) => `${code}.BJ`),
  ...of(['HK', 'HKG', 'HKEX', 'SEHK'], (code) => `${code.replace(/^0+(?=\d)/, '')}.HK`),
  ...of(['TYO', 'TSE', 'JPX', 'JP'], (code) => `${code}.T`),
  ...of(['KRX', 'KOSPI', 'KS'], (code) => `${code}.KS`),
  ...of(['KOSDAQ', 'KQ'], (code) => `${code}.KQ`),
  ...of(['TPE', 'TWSE', 'TW'], (code) => `${code}.TW`),
  ...of(['TPEX', 'TWO'], (code) => `${code}.TWO`),
}

function of(names: string[], spell: (code: string) => string): Record<string, (code: string) => string> {
  return Object.fromEntries(names.map((name) => [name, spell]))
}

/** Full-width characters as ASCII, decomposed ones composed, single blanks; without the mark of `^GSPC`, `$AAPL`. */
export function plainText(text: string): string {
  const plain = text.normalize('NFKC').trim().replace(/\s+/g, ' ')
  return plain.replace(/^[\^$](?=[A-Za-z0-9])/, '')
}

/** The parts of a pasted text. A text that is not a code with a name is one of the two: `code` if it looks like one. */
export function pastedParts(text: string): Pasted {
  const plain = plainText(text)
  if (!isLegalForm(plain)) {
    const bracketed = /^([^()[\]【】]+?)\s*[([【]\s*([^()[\]【】]+?)\s*[)\]】]$/.exec(plain)
    if (bracketed) return paired(bracketed[2] ?? '', bracketed[1] ?? '') ?? { code: null, name: plain }
    const [first = '', ...rest] = plain.split(' ')
    const last = rest.at(-1) ?? ''
    // After a blank only a code with a digit counts as one, because words of a name look like tickers.
    if (rest.length > 0 && !parseCode(plain).ok) {
      const beside =
        (isNumbered(first) && besideName(first, rest.join(' '))) ||
        (isNumbered(last) && besideName(last, [first, ...rest.slice(0, -1)].join(' ')))
      if (beside) return beside
    }
  }
  const code = codeIn(plain)
  return code === null ? { code: null, name: plain } : { code, name: null }
}

/** What to look up while the user is typing, in this order: the code, the name, the name without its legal form. */
export function searchTexts(text: string): string[] {
  const { code, name } = pastedParts(text)
  const bare = name === null ? null : withoutCompanyForm(name)
  return [code, name, bare].filter((one) => one !== null)
}

/** The name without the legal form: `Apple Inc.` is listed as Apple. Null when there is none. */
export function withoutCompanyForm(name: string): string | null {
  const bare = name
    .replace(LATIN_FORMS, '')
    .replace(LATIN_ARTICLE, '')
    .replace(HAN_FORMS, '')
    .replace(JAPANESE_FORMS, '')
    .replace(KOREAN_FORMS, '')
    .trim()
  return bare === name || bare === '' ? null : bare
}

const isLegalForm = (text: string): boolean => /^\((?:株|주)\)|\((?:株|주)\)$/.test(text)

/** `Apple (AAPL)`, `贵州茅台(600519)`, and in reverse order: `AAPL (Apple)`. */
function paired(inside: string, outside: string): Pasted | null {
  const code = codeIn(inside)
  if (code !== null) return { code, name: outside }
  const first = codeIn(outside)
  // A number in brackets is not a name: `SUM(11)`.
  return first === null || !/\p{L}/u.test(inside) ? null : { code: first, name: inside }
}

const isNumbered = (text: string): boolean => /\d/.test(text) && codeIn(text) !== null

/** The code with its name, if that is a name: if it contains another code, one of the two would be lost. */
function besideName(text: string, name: string): Pasted | null {
  const code = codeIn(text)
  if (code === null || !/\p{L}{2}/u.test(name) || codeIn(name.replaceAll(' ', '')) !== null) return null
  const others = name.match(/[\dA-Za-z.]*\d{4}[\dA-Za-z.]*/g) ?? []
  return others.some((other) => /\d{5}|\d\.[A-Za-z]/.test(other) && codeIn(other) !== null) ? null : { code, name }
}

const BETWEEN_CODES = /\s+(?:(?:和|及|与|and|&|\/)\s*)?|(?<=\d)(?:和|及|与)(?=\d)/i

/** The codes in a text that consists only of codes; null for any other. */
export function codesApart(text: string): string[] | null {
  const plain = plainText(text)
  const words = plain.split(BETWEEN_CODES)
  if (words.length < 2 || parseCode(plain).ok || words.some((word) => codeIn(word) === null)) return null
  // `600519 SH 000858 SZ`: the words must not be interpreted one by one.
  const isExchange = words.some((word) => word.toUpperCase() in EXCHANGES || word.toUpperCase() === 'CH')
  return isExchange || !words.some((word) => /\d{4}/.test(word)) ? null : words
}

/** The text as a code, with its exchange in the form of web pages or of this service; null when it does not look like one. */
function codeIn(text: string): string | null {
  const bare = text.replace(/^[\^$]/, '')
  const [, exchange = '', number = ''] = /^([A-Za-z]{2,12})\s?:\s?([A-Za-z0-9.-]{1,10})$/.exec(bare) ?? []
  const spelled = EXCHANGES[exchange.toUpperCase()]?.(number) ?? bare
  const parsed = parseCode(spelled)
  return parsed.ok || parsed.reason !== 'not_code' ? spelled : null
}
