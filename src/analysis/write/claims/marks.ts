// Figures that are no claims of their own: numbers within words, full marks, limits, and the marks that an oscillator lies above or below.

import type { Figure } from './figures.ts'
import { type Finding, FULL_MARKS, type Known } from './known.ts'
import type { Mention } from './names.ts'
import { isNegated } from './states.ts'

export function clauseAround(text: string, { at, end }: { at: number; end: number }): string {
  const before =
    text
      .slice(0, at)
      .split(/[;；。\n，]|,(?!\s?20\d\d|\d)/)
      .at(-1) ?? ''
  return before + (text.slice(end).split(/[;；。\n，]|, /)[0] ?? '')
}

// Words with a number in them that claim nothing: a first, one of, 52 weeks, some sessions.
export function isNoFigure(text: string, { at, end, unit, value }: Figure): boolean {
  const [before, after] = [text.slice(Math.max(0, at - 8), at), text.slice(end, end + 16)]
  if (unit === 'shares' && value === 52) return true
  if (value === 100 && (/(?:out of |满分|\/\s?)$/i.test(before) || /^\s?(?:점|分)?(?: 만점|满分)|^ 만점/.test(after)))
    return true
  if (unit === 'score' && value === 100 && /^ 만점/.test(after)) return true
  if (/^zero$/i.test(text.slice(at, end)) || /\b(?:first|last) $/i.test(before)) return true
  if (
    unit === 'plain' &&
    /^[- ]?(?:(?:up|down) days|weeks?|days?|sessions?|months?|years?|-day|-week|nm|cm|周|日|天|个?交易日|个月|거래일|주(?=\s|간)|일|개월|条|句|根|个|家|位|种|项)/i.test(
      after,
    )
  )
    return true
  if (/(?:第|20)$/.test(before) || (/^[一두한]$|^one$/i.test(text.slice(at, end)) && unit === 'plain')) return true
  return unit === 'plain' && (/MA$/i.test(before) || /^(?:선|线)/.test(after)) && value < 300
}

/** The most points of a part of the score beside those that it has: 20 of 30, 满分30分. */
export function isFullMark(text: string, { at, end, value, unit }: Figure, mentions: readonly Mention[]): boolean {
  if (unit !== 'plain' && unit !== 'score') return false
  const part = mentions.findLast((mention) => mention.at < at)?.facts[0] ?? mentions[0]?.facts[0]
  if (part === undefined || FULL_MARKS[part] !== value) return false
  const before = text.slice(Math.max(0, at - 12), at)
  return (
    /(?:out of |\bof |满分(?:为|是)?\s?|\/\s?|만점(?:은|이)? ?)$/i.test(before) ||
    /^(?:점|分)? ?만점|^分?满分/.test(text.slice(end))
  )
}

/** A 20 % limit-down: how far the limit goes, which the state decides. */
export const isLimit = (text: string, { end, unit, value }: Figure, { limitPct }: Known) =>
  unit === 'percent' &&
  value === limitPct &&
  /^\s?(?:的?[涨跌]停|limit[- ](?:up|down)|[상하]한가)/i.test(text.slice(end))

export function isThreshold(text: string, figure: Figure, mentions: readonly Mention[]): boolean {
  if (figure.value !== 70 && figure.value !== 30) return false
  return (
    mentions.some(({ facts }) => facts[0]?.startsWith('rsi')) &&
    /超|过|overb|overs|above|below|과매|넘|밑돌|[高低]于|[以之][上下]/i.test(text) &&
    figure.unit === 'plain'
  )
}

export type Mark = { readonly figure: Figure; readonly finding: Finding }

const OSCILLATES = /^(?:rsi\d+|k|d|j|score)$/
const IF = /\bif\b|would|could|when|如果|若|一旦|即|如能|[으]?면 |경우/i

/** Marks that an oscillator lies above or below: RSI12 above the neutral 50. */
export function thresholds(
  figures: readonly Figure[],
  { text, mentions, known }: { text: string; mentions: readonly Mention[]; known: Known },
): Mark[] {
  return figures.flatMap((figure): Mark[] => {
    const { at, end, value, unit, currencies } = figure
    const fact = mentions.findLast((mention) => mention.at < at)?.facts[0]
    if (fact === undefined || !OSCILLATES.test(fact) || value % 10 !== 0 || currencies.length > 0) return []
    if (unit !== 'plain' && unit !== 'score') return []
    const before = text.slice(Math.max(0, at - 26), at)
    const after = text.slice(end, end + 16)
    const isAbove =
      /(?:above|over|past|exceeds?|higher than|高于|超过|[高大]过|[升站]上)\s?(?:the )?(?:neutral |overbought |midline )?(?:(?:mark|line|level) of )?$/i.test(
        before,
      ) || /^(?:선|점|선)?[을를이]? ?(?:웃|넘|상회|위)|^(?:以上|之上|上方|보다 높)/.test(after)
    const isBelow =
      /(?:below|under|beneath|lower than|低于|跌破|不到|[低小]于)\s?(?:the )?(?:neutral |oversold |midline )?(?:(?:mark|line|level) of )?$/i.test(
        before,
      ) || /^(?:선|점)?[을를이]? ?(?:밑|하회|아래)|^(?:以下|之下|下方|보다 낮)/.test(after)
    const clause = clauseAround(text, figure)
    const held = known.values[fact]
    if (isAbove === isBelow || IF.test(clause)) return []
    if (held === null) return [{ figure, finding: false }]
    return [{ figure, finding: (isAbove ? held > value : held < value) !== isNegated(clause) }]
  })
}
