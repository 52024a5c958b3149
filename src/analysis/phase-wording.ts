import type { MarketPhaseSummary } from '../reports/report.ts'
import { sentencesIn } from './sentences.ts'

const OPEN: readonly MarketPhaseSummary['phase'][] = ['intraday', 'lunch_break', 'closing_auction']
// What a recap after the close says of today.
const RECAP =
  /(今日|今天|当日|本日).{0,6}(收盘|收于|收报|收涨|收跌)|(收盘|全天).{0,4}(复盘|总结|回顾)|\bclosed (today|the day|the session)\b|\b(today|the session|the day)('s)? (closed|ended)\b|오늘.{0,6}(마감했|마감하며|장을 마쳤)/i

/** A text without the sentences that tell of a close while the session runs. */
export function withoutRecap(text: string, { phase }: MarketPhaseSummary): { text: string; struck: number } {
  if (!OPEN.includes(phase)) return { text, struck: 0 }
  const sentences = sentencesIn(text)
  const kept = sentences.filter((sentence) => !RECAP.test(sentence))
  return { text: kept.join('').trim(), struck: sentences.length - kept.length }
}
