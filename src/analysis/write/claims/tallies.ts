// Claims that are read as a unit: a split (10 for 1), how many of the last closes were higher, and the performance of
// one of the company's boards.

import { directionOf, isWithin } from './judge-figure.ts'
import type { Finding, KnownFacts } from './known.ts'
import { countOf } from './numerals.ts'

/** The position of a claim in the text, so that its numbers are not read again as figures. */
type ClaimSpan = { at: number; end: number; finding: Finding }

const SPLIT = /拆股|拆为|[拆](?=\s?[\d一二三四五六七八九十])|\bsplit\b|분할|병합|合股/i
const SPLIT_RATIO =
  /(\d+|[一二三四五六七八九十]+)(?:股|주당)?\s?(拆|:|比|대|-for-|for)\s?(?:股)?(\d+|[一二三四五六七八九十]+)(?:주)?/i

export function splitsIn(text: string, { split }: KnownFacts): ClaimSpan[] {
  const match = SPLIT.test(text) ? (SPLIT_RATIO.exec(text) ?? /(\d+)(주당) (\d+)주/.exec(text)) : null
  if (match === null) return []
  const [a, b] = [countOf(match[1] ?? ''), countOf(match[3] ?? '')]
  const isReverse = /병합|合股|reverse/i.test(text)
  const isRight =
    split !== null &&
    !isReverse &&
    a !== null &&
    b !== null &&
    Math.min(a, b) === split.from &&
    Math.max(a, b) === split.to
  return [{ at: match.index, end: match.index + match[0].length, finding: isRight }]
}

const COUNT = '(\\d+|[一二两三四五六七八九十]+|one|two|three|four|five|six|seven|eight|nine|ten|none)'
const OF_LAST: readonly (readonly [RegExp, 'n first' | 'k first'])[] = [
  [
    new RegExp(
      `(?:最近|过去|近)(?:的)?${COUNT}个?(?:交易)?[日天](?:里|中|内)?(?:只有|仅有|仅|有)?${COUNT}(?:个|天|日)(?:交易日)?(?:收高|收涨|上涨|收阳)`,
    ),
    'n first',
  ],
  [
    new RegExp(
      `\\b${COUNT} (?:out )?of the last ${COUNT} (?:trading )?(?:sessions|closes|days)(?: closed higher| was higher| were higher| rose)?`,
      'i',
    ),
    'k first',
  ],
  [
    /(?:(?:최근|지난) )?(\d+)거래일 (?:중|가운데) (?:(?:오른|상승한) 날은 )?(\d+일?|하루|이틀|사흘|나흘)(?:뿐|만)?(?: ?(?:올랐|상승)\S*)?/,
    'n first',
  ],
]

export function closesCounted(text: string, { closes }: KnownFacts): ClaimSpan[] {
  for (const [pattern, order] of OF_LAST) {
    const match = pattern.exec(text)
    if (match === null) continue
    const [first, second] = [match[1], match[2]].map((part) => countOf((part ?? '').replace('일', '')))
    const [sessions, ups] = order === 'n first' ? [first, second] : [second, first]
    const isSaid = sessions != null && ups != null && sessions < closes.length
    const told = isSaid
      ? closes
          .slice(-sessions)
          .filter((close, i, all) => close > (i === 0 ? (closes.at(-sessions - 1) ?? close) : (all[i - 1] ?? close)))
      : []
    const isDown = /收低|收跌|下跌|lower|fell|하락|내린/.test(text)
    return [
      { at: match.index, end: match.index + match[0].length, finding: isSaid && !isDown ? told.length === ups : null },
    ]
  }
  return []
}

const OF_BOARDS =
  '(?:所属(?:的)?(?:板块|行业)?|属于|归属|隶属于?|소속 ?(?:업종|섹터)?|(?:its|the) (?:board|sector|industry)s?|belongs? to(?: the)?)'
const AND = '(?:、|和|及|与|,|，| and | 및 |과 |와 )'
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** A board of the company by name: that it is one of them, and how much it moved on the day. */
export function boardsTold(text: string, { boards }: KnownFacts): ClaimSpan[] {
  const names = boards.map(({ name }) => escaped(name.normalize('NFKC'))).filter((name) => name !== '')
  if (names.length === 0) return []
  const name = `(?:${names.toSorted((a, b) => b.length - a.length).join('|')})(?:板块|行业| board| sector| industry| ?업종)?`
  const told = new RegExp(`(?:${OF_BOARDS}(?:[:为是有包括的은는이가\\s]|are|is)*)?(?:${AND}?${name})+`, 'gi')
  return [...text.matchAll(told)].map(({ index, 0: words }) => {
    const end = index + words.length
    const move = /^([^\d。;；!?\n]{0,24}?)([+-]?\d+(?:\.\d+)?)\s?(?:%|percent|퍼센트)([^\d，。;；,.]{0,8})/i.exec(
      text.slice(end),
    )
    const own = boards.filter((board) => words.includes(board.name.normalize('NFKC')))
    if (move === null) return { at: index, end, finding: new RegExp(OF_BOARDS, 'i').test(words) ? true : null }
    const [, before = '', figure = '', after = ''] = move
    const [board, other] = own
    const isMove = other === undefined && board !== undefined && board.changePct !== null
    return {
      at: index,
      end: end + before.length + move[0].length - before.length - after.length,
      finding: isMove ? isMoveOf(board.changePct ?? 0, { before, figure, after }) : null,
    }
  })
}

function isMoveOf(
  changePct: number,
  { before, figure, after }: { before: string; figure: string; after: string },
): boolean {
  const way = /^[+-]/.test(figure) ? 0 : directionOf(before.replace(/涨跌/g, '')) || directionOf(after)
  const value = Number(figure) * (way === 0 ? 1 : way)
  const half = 0.5 / 10 ** (figure.split('.')[1]?.length ?? 0)
  return isWithin({ value, half, mode: 'exact' }, changePct)
}
