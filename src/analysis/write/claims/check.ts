// Whether the data support a sentence of a model. Nothing is rewritten: a sentence is kept, marked or dropped. It
// passes only when something in it is confirmed and no claim in it stays unchecked, because an unverifiable claim
// counts as unknown.

import { plain } from '../sentences.ts'
import { againstBoth, apartFromPrice, comparisons } from './comparisons.ts'
import { daysIn, isRightDay, monthsIn } from './dates.ts'
import {
  clauseAround,
  type Figure,
  figuresIn,
  isFullMark,
  isLimit,
  isNoFigure,
  isThreshold,
  thresholds,
} from './figures.ts'
import { fates, strangeFrame, tellsBeyond } from './frames.ts'
import { besideOf, directionOf, isWithin, judgeFigure, type Subject, settled } from './judge-figure.ts'
import { judgeKeyed } from './judge-keyed.ts'
import { type KeyedFigure, type Placed, placedIn } from './keys.ts'
import { type FactName, type Finding, type KnownFacts, UNITS } from './known.ts'
import { type Mention, mentionsIn } from './name-table.ts'
import { quotationIn } from './quotations.ts'
import { statesIn, tellsAdvice } from './states.ts'
import { boardsTold, closesCounted, splitsIn } from './tallies.ts'

export type Verdict = 'confirmed' | 'doubtful' | 'undecidable' | 'false'

/** `used` are the figures that the text names by their keys, each followed by its mark. */
export function checkSentence(text: string, known: KnownFacts, used: readonly KeyedFigure[] = []): Verdict {
  const words = plain(text)
  const findings: Finding[] = []
  const quotation = quotationIn(words, known)
  const rest = quotation === null ? words : quotation.rest
  if (quotation !== null) findings.push(quotation.verdict)
  if (rest !== '') findings.push(...claimsIn(rest, known, used))
  if (findings.includes(false)) return 'false'
  if (tellsEvent(rest)) return 'doubtful'
  if (findings.includes(null)) return 'doubtful'
  return findings.length === 0 ? 'undecidable' : 'confirmed'
}

// Events that no data contain.
const INVENTED =
  /收购|并购|合并|重组|破产|立案|调查|入股|回购|召回|获批|罢工|诉讼|起诉|公告|takeover|acqui[rs]|merger|bankrupt|lawsuit|investigat|probe|recall|approved|buyback|guidance|인수|합병|회생|파산|조사|리콜|소송|승인|자사주/i

/** Whether it mentions an event for which there are no figures. */
export const tellsEvent = (text: string): boolean => INVENTED.test(text)

/** A list prefix of a sentence: a dash, and a short title. */
const HEADING = /^\s*(?:[-*•·]\s+|\d+[.)]\s+)?(?:[^\d:,，。]{1,24}:\s*)?/

function withoutHeading(text: string): string {
  const heading = HEADING.exec(text)?.[0] ?? ''
  const own = mentionsIn(text).filter(({ at }) => at < heading.length)
  const isTitle = own.length > 0 && own.every(({ facts }) => facts[0] === 'price')
  return isTitle ? text.slice(heading.length) : text
}

function claimsIn(given: string, known: KnownFacts, used: readonly KeyedFigure[]): Finding[] {
  const findings: Finding[] = []
  let text = withoutHeading(given)
  const hide = (at: number, end: number) => {
    text = text.slice(0, at) + '\u0001'.repeat(end - at) + text.slice(end)
  }
  for (const name of known.names) text = text.replaceAll(name, '\u0001'.repeat(name.length))
  for (const day of daysIn(text)) {
    findings.push(isRightDay(day, clauseAround(text, day), known))
    hide(day.at, day.end)
  }
  const taken = [splitsIn, closesCounted, monthsIn, boardsTold].flatMap((read) => read(text, known))
  for (const { at, end, finding } of taken) {
    findings.push(finding)
    hide(at, end)
  }
  const isGrowth = mentionsIn(text).some(({ facts }) => facts[0]?.endsWith('GrowthPct'))
  for (const clause of clausesOf(text)) {
    const states = statesIn(clause, known)
    findings.push(...states, ...(states.length === 0 && tellsAdvice(clause) ? [null] : []))
    const became = fates(clause, known)
    findings.push(...became)
    const isDecided = states.length + became.length > 0
    const isClaim = states.length > 0 || /\d/.test(clause) || mentionsIn(clause).length > 0
    if (isClaim ? strangeFrame(clause, known, { isDecided, isGrowth }) !== null : tellsBeyond(clause))
      findings.push(null)
  }
  findings.push(...clausesOf(text).flatMap((clause) => missing(clause, known)), ...figureFindings(text, known, used))
  return findings
}

const clausesOf = (text: string) =>
  text
    .split(
      /(?<!算起|以来)，|[；。！？;!?\n]|:(?!\d)|(?<!算起|以来)(?:(?<!\d),|,(?!\d))|\. |\band (?=[^\d]{12})|\bbut\b|但|且|、但|인 가운데|이며|지만|안 돼 |(?<=[라해]서) |(?<=이라) |(?<=아니라) |而是|反而|\byet\b|(?<=[가-힣])고 /,
    )
    .filter((clause) => clause.trim() !== '')

const MISSING =
  /没有数据|暂缺|无法给出|没有给出|没有.{0,8}(?:买点|目标价|市盈率|阻力|压力|支撑)|no (?:P\/E|target|entry|buy level)|(?:无法|未能|没能)(?:算|给)出|算不出来|not available|no figure for|제공되지|isn't (?:a|any)|no data|cannot be given|데이터가 없|없습니다|나오지 않|제시되지 않|산출되지/i

function missing(text: string, known: KnownFacts): Finding[] {
  if (!MISSING.test(text)) return []
  const facts = mentionsIn(text)
    .flatMap((mention) => mention.facts)
    .filter((fact) => fact !== 'price')
  return facts.length === 0 ? [] : [facts.some((fact) => known.values[fact] === null)]
}

type Token = Mention | Figure

/** A text as names of facts and figures, in order; the listing's own names are hidden. */
export function readOf(given: string, known: KnownFacts): { text: string; tokens: Token[]; known: KnownFacts } {
  const text = known.names.reduce((rest, name) => rest.replaceAll(name, '\u0001'.repeat(name.length)), given)
  const mentions = mentionsIn(text)
  return { text, tokens: [...mentions, ...figuresBeside(text, mentions)].sort((a, b) => a.at - b.at), known }
}

const figuresBeside = (text: string, mentions: readonly Mention[]) =>
  figuresIn(text, (at, end) => text.slice(at, end) === '\u0001' || mentions.some((it) => at < it.end && it.at < end))

function figureFindings(text: string, known: KnownFacts, used: readonly KeyedFigure[]): Finding[] {
  const named = mentionsIn(text)
  const placed = placedIn(text, used)
  const isKeyed = (figure: Figure) => placed.some(({ at, end }) => figure.at >= at && figure.at < end)
  const told = figuresBeside(text, named)
  const apart = apartFromPrice(named, { text, figures: told.filter((figure) => !isKeyed(figure)), known })
  // A price with its own figure is kept: "5 % below the price of 25.31".
  const isTold = ({ end }: Mention) => /^(?: of| at)? ?\(?[$¥₩]?\d/.test(text.slice(end))
  const mentions = named.filter((mention) => !apart.some(({ base }) => base === mention && !isTold(mention)))
  const figures = told.filter((figure) => !apart.some((one) => one.figure === figure))
  const meant = figures.filter((figure) => isKeyed(figure) || isClaim(figure, { text, mentions, known }))
  const byHand = meant.filter((figure) => !isKeyed(figure))
  const threshold = byHand.filter((figure) => isThreshold(text, figure, mentions))
  const marks = thresholds(byHand, { text, mentions, known })
  const judgedAlone = (figure: Figure) => threshold.includes(figure) || marks.some((mark) => mark.figure === figure)
  const tokens: Token[] = [...mentions, ...meant.filter((figure) => !judgedAlone(figure))]
  tokens.sort((a, b) => a.at - b.at)
  const judged = grouped(tokens, text).flatMap((group) =>
    judgeGroup(group, text, known).map((finding, i) => ({ finding, at: group.figures[i]?.at ?? 0 })),
  )
  const keyed = placed.map((one) => {
    const own = judged.filter(({ at }) => at >= one.at && at < one.end)
    const isConfirmed = own.length > 0 && own.every((each) => each.finding === true)
    return { at: one.at, end: one.end, finding: judgeKeyed(one, { text, tokens, known }, isConfirmed) }
  })
  // The direction of a level from the price is decided together with its distance.
  const others = mentions.filter((mention) => !apart.some(({ level }) => level === mention))
  const compared = [...others, ...standingIn(placed, mentions, text)].sort((x, y) => x.at - y.at)
  const rest = judged.map((one) =>
    keyed.some(({ at, end }) => one.at >= at && one.at < end) ? { ...one, finding: true } : one,
  )
  return [
    ...apart.map(({ finding }) => finding),
    ...marks.map(({ finding }) => finding),
    ...keyed.map(({ finding }) => finding),
    ...settled(rest, { text, tokens, known }),
    ...comparisons(compared, { text, figures: byHand, known }),
    ...againstBoth(mentions, { text, known }),
  ]
}

type SentenceContext = { readonly text: string; readonly mentions: readonly Mention[]; readonly known: KnownFacts }

const isClaim = (figure: Figure, { text, mentions, known }: SentenceContext) =>
  !isNoFigure(text, figure) && !isLimit(text, figure, known) && !isFullMark(text, figure, mentions)

/** A part of the sentence without a name is about the figures that are named by their keys: "1060.24 is below 1064.08". */
function standingIn(placed: readonly Placed[], mentions: readonly Mention[], text: string): Mention[] {
  return placed.flatMap(({ at, end, figure }): Mention[] => {
    const from = text.slice(0, at).search(/[^，。,;；]*$/)
    const to = end + text.slice(end).search(/[，。,;；]|$/)
    const isNamed = mentions.some((mention) => mention.at >= from && mention.end <= to)
    return isNamed ? [] : [{ kind: 'mention', facts: [figure.fact], at, end }]
  })
}

type Group = { mentions: Mention[]; figures: Figure[] }

/** Adjacent names with the figures that follow them. */
function grouped(tokens: readonly Token[], text: string): Group[] {
  const groups: Group[] = []
  for (const token of tokens) {
    const last = groups.at(-1)
    if (token.kind === 'figure') {
      if (last) last.figures.push(token)
      else groups.push({ mentions: [], figures: [token] })
    } else if (last && last.figures.length === 0) last.mentions.push(token)
    else if (last && last.mentions.length === 1 && isPointsThan(last.figures.at(-1), text, token.at))
      last.mentions.push(token)
    else if (last && last.mentions.length === 0 && isAfterwards(text.slice(last.figures.at(-1)?.end, token.at)))
      last.mentions.push(token)
    else if (
      last &&
      last.figures.length > last.mentions.length &&
      /^\s?(?:on |for )?(?:about |its )?$|over the$|^ ?for the $|^的|^ 的| below | above |^ off|^ over |^ in $/i.test(
        text.slice(last.figures.at(-1)?.end, token.at),
      )
    ) {
      const moved = last.figures.pop()
      groups.push({ mentions: [token], figures: moved ? [moved] : [] }, { mentions: [], figures: [] })
      if (last.mentions.length === 1 && last.mentions[0]?.facts[0] !== 'price') groups.pop()
    } else groups.push({ mentions: [token], figures: [] })
  }
  return groups
}

const isPointsThan = (figure: Figure | undefined, text: string, at: number) =>
  figure !== undefined &&
  (figure.unit === 'points' || figure.unit === 'percent') &&
  /^\s?(?:$|above|below|higher|lower|over|under|more|less)/i.test(text.slice(figure.end, at))

const isAfterwards = (between: string) => !/[，,。;；]/.test(between)

function judgeGroup({ mentions, figures }: Group, text: string, known: KnownFacts): Finding[] {
  if (figures.length === 0) return []
  const subjects = mentions.flatMap(({ facts, at, end }) => facts.map((fact) => ({ fact, at, end })))
  if (subjects.length === 0) return figures.map((figure) => judgeAlone(figure, text, known))
  const around = spanOf({ mentions, figures }, text)
  const [first] = figures
  const subjectOf = (fact: (typeof subjects)[number]['fact']): Subject => ({
    fact,
    direction: ratioTurned(fact, text) ?? directionOf(around),
  })
  if (subjects.length === 2 && first && figures.length === 1 && isDifference(first, subjects, text)) {
    return [judgeDifference(first, [subjects[0]?.fact ?? 'price', subjects[1]?.fact ?? 'price'], { around, known })]
  }
  if (subjects.length === figures.length) {
    return subjects.map(({ fact }, i) => {
      const figure = figures[i]
      return figure
        ? judgeFigure(
            figure,
            {
              ...subjectOf(fact),
              direction: ratioTurned(fact, text) ?? directionNear(text, figure, around),
              beside: besideOf(text, figure, [...mentions, ...figures]),
            },
            known,
          )
        : null
    })
  }
  if (subjects.length > figures.length && figures.length > 1)
    return judgeGroup({ mentions: mentions.slice(1), figures }, text, known)
  const last = subjects.at(-1)
  const range = last === undefined ? null : judgeRange(last.fact, figures, { text, known })
  if (range !== null) return [range]
  return judgeRest({ figures, mentions, last: last?.fact, isMany: subjects.length > 1 }, { text, around, known })
}

/** Whether the value of a fact is between the two figures of a range; null when they are not a range. */
function judgeRange(
  fact: FactName,
  figures: readonly Figure[],
  { text, known }: { text: string; known: KnownFacts },
): boolean | null {
  const [first, second] = figures
  if (first === undefined || second === undefined || figures.length !== 2) return null
  if (!isRange(text, first, second) || !isOneUnit(fact, first, second)) return null
  const value = known.values[fact]
  return (
    value !== null &&
    value >= first.value &&
    value <= second.value &&
    [first, second].every(({ currencies }) => currencies.length === 0 || currencies.includes(known.currency))
  )
}

type RemainingFigures = {
  figures: readonly Figure[]
  mentions: readonly Mention[]
  last: Subject['fact'] | undefined
  isMany: boolean
}

/** The last name gets the first figure; further figures belong to the same name, or to the day. */
function judgeRest(
  { figures, mentions, last, isMany }: RemainingFigures,
  { text, around, known }: { text: string; around: string; known: KnownFacts },
): Finding[] {
  return figures.map((figure, i) => {
    const direction =
      (last && ratioTurned(last, text)) ??
      (isMany && figures.length === 1 ? directionOf(around) : directionNear(text, figure, around))
    const beside = besideOf(text, figure, [...mentions, ...figures.slice(0, i)])
    const told = last === undefined ? null : judgeFigure(figure, { fact: last, direction, beside }, known)
    if (i === 0 || told === true) return told
    return judgeAlone(figure, text, known) === true ? true : null
  })
}

/** Risk before reward inverts a ratio. */
function ratioTurned(fact: string, text: string): 1 | -1 | null {
  if (fact !== 'rewardRisk') return null
  return /风险收益比|风险与回报|risk[- ]to[- ]reward|위험 대비/i.test(text) ? -1 : 1
}

const spanOf = ({ mentions, figures }: Group, text: string) => {
  const [from, to] = [
    Math.min(...[...mentions, ...figures].map(({ at }) => at)),
    Math.max(...[...mentions, ...figures].map(({ end }) => end)),
  ]
  const before =
    text
      .slice(0, from)
      .split(/[，。;；\n(]|(?:(?<!\d),|,(?!\d))/)
      .at(-1) ?? ''
  const after =
    text.slice(to).split(/[，。;；\n)]|(?:(?<!\d),|,(?!\d))|지만|\band\b|\bwhile\b|\bwhereas\b|though\b/)[0] ?? ''
  const names = mentions.reduce(
    (out, { at, end, facts }) => (facts[0]?.startsWith('change') ? out : out.replace(text.slice(at, end), ' ')),
    text.slice(from, to),
  )
  return `${before}${names.replace(/涨跌/g, '')}${after}`
}

/** The direction in the figure's own clause, or that of the whole group. */
function directionNear(text: string, { at, end }: Figure, around: string): 1 | -1 | 0 {
  const before = (
    text
      .slice(0, at)
      .split(/[，。;；\n]|(?:(?<!\d),|,(?!\d))|지만|(?<=[가-힣])고 |\bbut\b|\band\b|\bwhile\b|\bwhereas\b|though\b/)
      .at(-1) ?? ''
  ).replace(/涨跌/g, '')
  const after =
    text
      .slice(end)
      .split(/[，。;；\n)]|(?:(?<!\d),|,(?!\d))|지만|(?<=[가-힣])고 |\band\b|\bwhile\b|\bwhereas\b|though\b/)[0] ?? ''
  return directionOf(before + after) || directionOf(around)
}

function judgeAlone(figure: Figure, text: string, known: KnownFacts): Finding {
  const direction = directionNear(text, figure, text)
  if (figure.unit === 'percent' && direction !== 0) {
    return judgeFigure(figure, { fact: 'changePct', direction }, known)
  }
  if (figure.unit === 'score') return judgeFigure(figure, { fact: 'score', direction: 0 }, known)
  if (figure.currencies.length > 0 && Math.abs(figure.value) < 1e7) {
    // A difference from the day before is a move, not a price.
    const isMove = /^\s?(?:more|less|higher|lower) than\b/i.test(text.slice(figure.end))
    const price = judgeFigure(figure, isMove ? { fact: 'change', direction } : { fact: 'price', direction: 0 }, known)
    return price === true ? true : null
  }
  return null
}

function isDifference({ unit }: Figure, subjects: readonly { fact: string }[], text: string): boolean {
  if (unit === 'points') return true
  return unit === 'percent' && subjects.every(({ fact }) => fact.endsWith('Pct')) && /相对|relative|상대적/i.test(text)
}

type FactPair = readonly [keyof KnownFacts['values'], keyof KnownFacts['values']]

function judgeDifference(
  figure: Figure,
  [a, b]: FactPair,
  { around, known }: { around: string; known: KnownFacts },
): boolean {
  const [left, right] = [known.values[a], known.values[b]]
  if (left === null || right === null) return false
  const apart = figure.unit === 'points' ? left - right : (left / right - 1) * 100
  const sign = directionOf(around) < 0 ? -1 : 1
  return isWithin({ ...figure, value: sign * figure.value }, apart)
}

/** 52주 고점 15.51에서 23.73%: a price and a percentage do not form a range. */
const isOneUnit = (fact: FactName, a: Figure, b: Figure) =>
  UNITS[fact] === 'percent' ? b.unit === 'percent' : a.unit !== 'percent' && b.unit !== 'percent'

const isRange = (text: string, a: Figure, b: Figure) =>
  /^\s?(?:至|到|和|与|-|~|to|and|와|과|에서|부터)\s?$/i.test(
    text
      .slice(a.end, b.at)
      .replace(/(?:HK\$|US\$|[$¥₩]|HKD|USD|RMB|CNY|KRW|JPY)/gi, '')
      .trim(),
  )
