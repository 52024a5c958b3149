import type { MarketPhaseSummary } from '../schemas.ts'

/** The text in a normal form: one width, one minus sign, no emphasis, no invisible characters. */
export function plain(text: string): string {
  const superscripts = text.replace(/10([⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g, (_all, digits: string) => `10^${digits.normalize('NFKC')}`)
  return superscripts
    .normalize('NFKC')
    .replace(/\p{Cf}|\p{Extended_Pictographic}|\uFE0F/gu, (char) => (/\d/.test(char) ? char : ''))
    .replace(/[−–—]/g, '-')
    .replace(/\*\*|__|`/g, '')
    .replace(/[〜～]/g, '~')
    .replace(/[’]/g, "'")
}

// A sentence ends at its punctuation mark; a period only before a blank or the end, so that numbers stay whole.
const SENTENCE = /[^。！？!?；;\n.]*(?:\.(?=\S)[^。！？!?；;\n.]*)*(?:[。！？!?；;\n]+|\.(?=\s|$)|$)\s*/g

/** The text in sentences, each with its punctuation and the blanks after it. */
export function sentencesIn(text: string): string[] {
  return (text.match(SENTENCE) ?? []).filter((sentence) => sentence !== '')
}

/** The text with the separator before a following sentence: none after a full-width mark. */
export function withSeparator(text: string): string {
  return /[。！？；]$/.test(text) ? text : `${text} `
}

const OPEN: readonly MarketPhaseSummary['phase'][] = ['intraday', 'lunch_break', 'closing_auction']
// Phrases of a recap after the close.
const RECAP =
  /(今日|今天|当日|本日).{0,6}(收盘|收于|收报|收涨|收跌)|(收盘|全天).{0,4}(复盘|总结|回顾)|\bclosed (today|the day|the session)\b|\b(today|the session|the day)('s)? (closed|ended)\b|오늘.{0,6}(마감했|마감하며|장을 마쳤)/i

/** A text without the sentences that mention a close while the session runs. */
export function withoutRecap(text: string, { phase }: MarketPhaseSummary): { text: string; struck: number } {
  if (!OPEN.includes(phase)) return { text, struck: 0 }
  const sentences = sentencesIn(text)
  const kept = sentences.filter((sentence) => !RECAP.test(sentence))
  return { text: kept.join('').trim(), struck: sentences.length - kept.length }
}
