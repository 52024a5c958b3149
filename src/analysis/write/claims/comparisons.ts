// Claims that something is above or below something else: the price and its levels, DIF and DEA, the lines of KDJ.

import type { Figure } from './figures.ts'
import { isWithin } from './judge-figure.ts'
import type { FactName, Finding, KnownFacts } from './known.ts'
import type { Mention } from './name-table.ts'
import { isNegated } from './states.ts'

const MORE =
  /收回|夺回|상회|(?<!하향 )돌파|\breclaimed\b|\bregained\b|\brecovered\b|\bintact\b|高于|之上|上方|站上|突破|站稳|收复|\babove\b|over\b(?! (?:the )?(?:last|past|previous|year|week|month|five|twenty|sixty|\d))|higher than|\bexceeds\b|웃돌|웃돕|웃돈|웃도는|보다 (?:높|상승|올랐|올라|오른)|그보다 높|위에|위입|넘|>/i
const LESS =
  /하회|\bbeneath\b|\bbroken\b(?! down)|低于|之下|下方|跌破|失守|\bbelow\b|\bunder\b|lower than|\blost\b|밑돌|밑돕|밑돈|밑도는|보다 (?:낮|하락|내렸|내려|떨어)|아래|그보다 낮|<|压在/i

const LEVELS =
  /^(?:price|prevClose|open|high|low|ma\d+|boll\w+|high52|low52|support|resistance|stop|idealBuy|secondaryBuy|target\d)$/

/** Facts of one family can be compared with each other. */
function familyOf(fact: FactName): 'level' | 'macd' | 'kdj' | null {
  if (LEVELS.test(fact)) return 'level'
  if (fact === 'dif' || fact === 'dea') return 'macd'
  return fact === 'k' || fact === 'd' || fact === 'j' ? 'kdj' : null
}

const isAverages = ({ facts }: Mention) => facts.every((fact) => fact.startsWith('ma'))

type Read = { readonly text: string; readonly figures: readonly Figure[]; readonly known: KnownFacts }

export function comparisons(mentions: readonly Mention[], read: Read): Finding[] {
  return mentions.flatMap((mention, i): Finding[] => {
    const [fact] = mention.facts
    const family = fact === undefined ? null : familyOf(fact)
    if (fact === undefined || family === null || (mention.facts.length > 1 && !isAverages(mention))) return []
    const place = placeOf(mention, { before: mentions[i - 1], next: mentions[i + 1] }, read)
    const words = place && wordsOf(place, mention, read)
    if (place === null || words === null || IF.test(`${place.between}${place.after}`)) return []
    // A statement that there is no such level compares nothing.
    if (read.known.values[fact] === null && NONE.test(`${place.between}${place.after}`)) return []
    const [other] = place.from?.facts.length === 1 ? place.from.facts : []
    const left = other !== undefined && familyOf(other) === family ? other : family === 'level' ? 'price' : null
    if (fact === 'prevClose' && left === 'price' && /open|开盘|[高低]开|시초?가|출발/i.test(place.between)) return []
    if (fact === 'price' && left === 'price')
      return aboutPrice(mentions.slice(0, i), { words, place, known: read.known })
    if (left === null || left === fact) return []
    const isTurned = words === place.after && LEVEL_IS.test(words)
    const isAbove = (MORE.test(words) !== isTurned) !== isNegated(`${place.between}${place.after}`)
    return mention.facts
      .filter((level) => mention.facts.length <= 3 || read.known.values[level] !== null)
      .map((level) => compared(read.known, [left, level], isAbove))
  })
}

const NONE = /没有|并无|尚无|暂无|\bno\b|\bnot? any\b|없/i

/** A condition, which cannot be verified, and the action for it. */
const IF = /\bif\b|would|如果|若|一旦|则|으?면 |^\s*(?:leave|exit|sell|buy|add|trim|reduce|cut|get out|wait|hold)\b/i

const BOTH =
  /(?:두|양) (?:이동평균선|이평선|평균선|선)|(?:这)?两条均线|\bboth (?:of (?:these|those) )?(?:moving )?averages\b/

/** The price compared with both averages that were named before. */
export function againstBoth(mentions: readonly Mention[], { text, known }: Omit<Read, 'figures'>): Finding[] {
  const match = BOTH.exec(text)
  if (match === null) return []
  const facts = mentions
    .filter(({ at }) => at < match.index)
    .flatMap((mention) => (isAverages(mention) ? mention.facts : []))
  const clause = `${
    text
      .slice(0, match.index)
      .split(/[，。;；\n,]/)
      .at(-1) ?? ''
  }${text.slice(match.index).split(/[，。;；\n]/)[0] ?? ''}`
  const words = clause.slice(clause.search(BOTH))
  const [isMore, isLess] = [MORE.test(words) || MORE.test(clause), LESS.test(words) || LESS.test(clause)]
  if (facts.length !== 2) return [null]
  if (isMore === isLess) return [null]
  return facts.map((fact) => compared(known, ['price', fact], isMore !== isNegated(clause)))
}

const IT = /그보다|이보다|그 (?:위|아래)|其|\b(?:above|below|under|over) (?:it|that|this)\b/i

/** Claims about the price and the level that is named before it: a line "below the current price", the price "above it". */
function aboutPrice(
  before: readonly Mention[],
  { words, place, known }: { words: string; place: MentionContext; known: KnownFacts },
): Finding[] {
  const [level] = before.findLast(({ facts }) => facts[0] !== undefined && familyOf(facts[0]) === 'level')?.facts ?? []
  if (level === undefined || level === 'price') return []
  const isAbove = MORE.test(words) !== isNegated(`${place.between}${place.after}`)
  if (words === place.between) return [compared(known, [level, 'price'], isAbove)]
  return IT.test(words) ? [compared(known, ['price', level], isAbove)] : []
}

/** 60일선이 위에 있다: the line is above the price, not the price above the line. */
const LEVEL_IS = /^(?:[^,]|,(?=\d))*(?:이|가)\s(?:머리 )?(?:위에|아래에)/

/** A line overhead or underfoot: the price is seen from it. */
const fromPrice = (words: string): string =>
  words
    .replace(/(?:压在|悬在)?(?:股价|价格)?(?:头顶|头上)|压在(?:股价|价格)?上方|머리 위|\boverhead\b/g, '低于')
    .replace(/脚下|발아래|발 아래|\bunderfoot\b/g, '高于')

/** Words after an English name that say where the price is: it "has been lost", it "is intact". */
const FATE =
  /\b(?:has|have|had|was|were|is|are|got)(?: now| also| already)?(?: been)? (?:lost|broken|reclaimed|regained|recovered|intact)\b|低于|高于/

type MentionContext = {
  readonly from: Mention | undefined
  readonly start: number
  readonly between: string
  readonly after: string
  readonly isLast: boolean
}

function placeOf(
  mention: Mention,
  { before, next }: { before: Mention | undefined; next: Mention | undefined },
  { text }: Read,
): MentionContext {
  const gap = before === undefined ? '' : text.slice(before.end, mention.at)
  // A name that is joined with "and" has the same subject as the one before; the two are not compared.
  const isJoined = before !== undefined && (isListed(gap) || AGAIN.test(gap))
  const isApart = isJoined || /[，。;；\n]|(?:(?<!\d),|,(?!\d))|이며|지만|인 가운데|, and |\. /.test(gap)
  const from = isApart ? undefined : before
  const marks = [...text.slice(0, mention.at).matchAll(/[，,。;；:\n]|이며|지만|인 가운데/g)].map(({ index }) => index)
  const start = (isJoined ? before : from)?.end ?? Math.max(0, ...marks)
  return {
    ...{ from, start, between: fromPrice(text.slice(start, mention.at)) },
    after: fromPrice(
      text.slice(mention.end, next?.at).split(/[，。;；\n]|(?:(?<!\d),|,(?!\d))|(?<=[가-힣])고 |지만/)[0] ?? '',
    ),
    isLast: next === undefined || /[，,。;；\n]|\band\b|(?<=[가-힣])고 |지만/.test(text.slice(mention.end, next.at)),
  }
}

/** The words of a comparison; null when there are none, or when they state an amount. */
function wordsOf(
  { from, start, between, after, isLast }: MentionContext,
  mention: Mention,
  { text, figures }: Read,
): string | null {
  // 下方支撑: the word identifies the level, and is not a claim about it.
  const joined = between.replace(/(?:上方|下方|上面|下面)的?$/, '')
  const isRead = MORE.test(joined) || LESS.test(joined)
  const words = isRead ? between : isLast && (!/[a-z]/i.test(after) || IT.test(after) || FATE.test(after)) ? after : ''
  if (!isRead && joined !== between) return null
  if (MORE.test(words) === LESS.test(words)) return null
  const isFar = ({ at, end }: Figure) =>
    at >= start && end <= mention.end && at > (from?.end ?? 0) && text.slice(end, mention.at).length > 14
  return words === between && from === undefined && figures.some(isFar) ? null : words
}

function compared({ values }: KnownFacts, [a, b]: readonly [FactName, FactName], isMore: boolean): Finding {
  const [left, right] = [values[a], values[b]]
  if (left === null || right === null) return false
  return isMore ? left > right : left < right
}

/** A second comparison of the same subject. */
const AGAIN =
  /^\s*(?:\([^()]*\))?\s*(?:and|yet|but|while|且|但|并)\b.*(?:above|below|under|over)|^\s*(?:\([^()]*\))?\s*[且但并也](?![不非未没]).*(?:高于|低于|之上|之下)/i

/** Only an "and" is between them, perhaps with the figure of the first in brackets. */
const isListed = (between: string) =>
  /^[\s,、·]*(?:과|와|및|和|与|and)\s*$/i.test(
    between
      .replace(/\([^()]*\)/g, '')
      .replace(/[\d.,]+\s?(?:元|港元|美元|韩元|日元|위안|원|달러|홍콩달러|엔|yuan|won|yen)?/g, ''),
  )

// The distance of a level from the price, in percent of one of them: "the resistance is 2.3 % above the price",
// 高于现价2.3%, 현재가보다 2.3% 높다.

/** `base` is the price from which it is measured, if that is named. */
export type PriceDistance = {
  readonly figure: Figure
  readonly base: Mention | null
  readonly level: Mention
  readonly finding: boolean
}
/** On which side of the price the level is claimed to be; null when only the distance is stated. */
type Side = Omit<PriceDistance, 'finding' | 'figure'> & { readonly isAbove: boolean | null }

/** Levels with a stated distance from the price, and whether it is right. */
export function apartFromPrice(mentions: readonly Mention[], { text, figures, known }: Read): PriceDistance[] {
  return figures.flatMap((figure): PriceDistance[] => {
    if (figure.unit !== 'percent') return []
    const range = rangeShare(mentions, figure, text)
    if (range !== null) return [{ figure, ...range, finding: isShare(figure, known) }]
    const readers = [thanLevel, fromNamedPrice, roomTo, bracketed]
    const side = readers.map((read) => read(mentions, figure, text)).find((one) => one !== null) ?? null
    return side === null ? [] : [{ figure, base: side.base, level: side.level, finding: isApart(figure, side, known) }]
  })
}

const EN_APART = /^\s?(above|over|higher than|below|under|lower than)\s(?:the\s|its\s)?(?:current\s|last\s|latest\s)?$/i
const EN_FROM = /\bfrom (?:the |its )?(?:current |last |latest )?$/i
const EN_SIDE = /^\s?(higher|lower)(?! than)\b/i
const ABOUT = '(?:大?约|近|不到|超过)?'
const ZH_APART = new RegExp(
  `(?:(高于|低于|高出)|([比较]))?\u0002(?:的?(上方|下方|之上|之下)|[要还]?(高|低)[出了]?)?${ABOUT}$`,
)
/** 距现价2.3%: the distance without a direction. */
const AWAY = '距'
const ZH_AWAY = new RegExp(`^(?:还?有)?${ABOUT}$`)
const KO_APART = /^\s?(?:보다|대비)\s?(?:약\s?)?$/
const KO_SIDE = /^\s?(?:정도\s?|가량\s?)?(높|위|웃돌|낮|아래|밑돌)/

const isHigh = (word: string) => /^(?:above|over|higher|高|上|之上|높|위|웃돌)/i.test(word)
const isLevel = ({ facts: [fact] }: Mention): boolean => fact !== undefined && LEVELS.test(fact) && fact !== 'price'
const isPrice = ({ facts }: Mention): boolean => facts.length === 1 && facts[0] === 'price'

/** The level that was named before, and the side of the price on which it is claimed to be. */
function fromNamedPrice(mentions: readonly Mention[], figure: Figure, text: string): Side | null {
  for (const base of mentions.filter(isPrice)) {
    const word = sideOf(base, figure, text)
    const from = EN_FROM.test(text.slice(0, base.at)) ? base.at : 0
    const level = mentions.findLast(
      (one) => isLevel(one) && one.at < Math.min(figure.at, from === 0 ? base.at : figure.at),
    )
    if (word === null || level === undefined || /[。；;!?]/.test(text.slice(level.end, figure.at))) continue
    return { base, level, isAbove: word === AWAY ? null : isHigh(word) }
  }
  return null
}

/** The word for the side of the price; null when the figure is not measured from it. */
function sideOf(base: Mention, figure: Figure, text: string): string | null {
  if (figure.end <= base.at) return EN_APART.exec(text.slice(figure.end, base.at))?.[1] ?? null
  if (base.end > figure.at) return null
  const between = text.slice(base.end, figure.at)
  if (EN_FROM.test(text.slice(0, base.at))) return EN_SIDE.exec(text.slice(figure.end))?.[1] ?? null
  if (KO_APART.test(between)) return KO_SIDE.exec(text.slice(figure.end))?.[1] ?? signOf(figure)
  if (/距离?$/.test(text.slice(0, base.at)) && ZH_AWAY.test(between)) return AWAY
  const [, before, than, where, word] = ZH_APART.exec(`${text.slice(0, base.at)}\u0002${between}`) ?? []
  // 股价高出3%, without "than": the price is the higher one.
  const turned = word === undefined || than !== undefined ? word : word === '高' ? '低' : '高'
  return before ?? where ?? turned ?? null
}

/** 손절가 17.40보다 4 % 높다: a claim about the price, seen from the level. */
function thanLevel(mentions: readonly Mention[], figure: Figure, text: string): Side | null {
  const level = mentions.findLast(({ at }) => at < figure.at)
  const word = KO_SIDE.exec(text.slice(figure.end))?.[1]
  if (level === undefined || word === undefined || !isLevel(level)) return null
  const isThan = /^[\s(]*[\d,.]+[^\s\d]*보다\s?(?:약\s?)?$/.test(text.slice(level.end, figure.at))
  return isThan ? { base: null, level, isAbove: !isHigh(word) } : null
}

const signOf = ({ isSigned, value }: Figure): string | null => (isSigned ? (value > 0 ? 'higher' : 'lower') : null)

const ROOM = /^\s?(?:of\s|的|의\s?)?(upside|downside|上行|上涨|下行|下跌|상승|하락)(?:\s?(?:空间|여력|여지))?/i

/** "4.2 % of upside to the target", 距离目标价还有4.2%的上行空间. */
function roomTo(mentions: readonly Mention[], figure: Figure, text: string): Side | null {
  const [words, way] = ROOM.exec(text.slice(figure.end)) ?? []
  if (words === undefined || way === undefined) return null
  const isEnglish = /side$/i.test(way)
  if (!isEnglish && !/空间|여력|여지/.test(words)) return null
  const to = text.slice(figure.end + words.length)
  const level = isEnglish
    ? mentions.find(
        (one) =>
          isLevel(one) && /^ (?:to|towards?) (?:the |its )?$/i.test(to.slice(0, one.at - figure.end - words.length)),
      )
    : mentions.findLast((one) => isLevel(one) && one.at < figure.at && /距离?$/.test(text.slice(0, one.at)))
  return level === undefined ? null : { base: null, level, isAbove: /^(?:up|上|상)/i.test(way) }
}

/** Stop: 17.40 (-15.6%). */
function bracketed(mentions: readonly Mention[], figure: Figure, text: string): Side | null {
  const level = mentions.findLast(({ at }) => at < figure.at)
  if (
    level === undefined ||
    !figure.isSigned ||
    !/^(?:stop|target\d|idealBuy|secondaryBuy|support|resistance|boll\w+)$/.test(level.facts[0] ?? '')
  )
    return null
  const isOwn = /^[^(（)）。；;]*\d[^(（)）。；;]*[(（]\s?[-+−]?$/.test(text.slice(level.end, figure.at))
  return isOwn ? { base: null, level, isAbove: figure.value > 0 } : null
}

/** Relative to the price or to the level: both are common, and for a few percent they are nearly equal. */
function isApart({ value, half, mode }: Figure, { level: { facts }, isAbove }: Side, { values }: KnownFacts): boolean {
  const { price } = values
  const told = { value: Math.abs(value), half, mode }
  return facts.some((fact) => {
    const level = values[fact]
    if (level === null || price === null) return false
    const way = (isAbove ?? level > price) ? 1 : -1
    return isWithin(told, (level / price - 1) * 100 * way) || isWithin(told, (1 - price / level) * 100 * way)
  })
}

/** A range as a share of the price: 相当于现价的2.8%. */
const SHARE = new RegExp(`^(?:的${ABOUT}|의\\s?(?:약\\s?)?)$`)

function rangeShare(
  mentions: readonly Mention[],
  figure: Figure,
  text: string,
): Omit<PriceDistance, 'finding' | 'figure'> | null {
  const base = mentions.find(
    (one) => isPrice(one) && one.end <= figure.at && SHARE.test(text.slice(one.end, figure.at)),
  )
  const level = mentions.findLast(({ facts: [fact], at }) => fact === 'atr' && at < (base?.at ?? 0))
  return base === undefined || level === undefined ? null : { base, level }
}

const isShare = (figure: Figure, { values: { atr, price } }: KnownFacts): boolean =>
  atr !== null && price !== null && isWithin(figure, (atr / price) * 100)
