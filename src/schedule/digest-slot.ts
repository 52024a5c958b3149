// The slot of a schedule that sends a digest. Its content depends only on the slot and on the data stored by then, and
// its notice is named after the schedule and the day: if it is interrupted anywhere and repeated, one message is sent.

import { escapeMarkdown } from '../analysis/report/render/markdown-text.ts'
import type { ReportLanguage } from '../analysis/schemas.ts'
import { textsOf } from '../analysis/texts/book.ts'
import { lastStarted, type ScheduleRow, type SlotOutcome } from '../db/schedules.ts'
import { listWatchlists } from '../db/watchlists.ts'
import { wallClock } from '../market/calendar.ts'
import type { Notice } from '../notify/delivery.ts'
import type { SchedulePlan, Slot } from './plan.ts'
import { type Crossing, type Failed, type StockChange, type WatchDigest, watchDigest } from './watch-digest.ts'

const DAY_MS = 86_400_000

export type DigestDeps = {
  /** The owner's failed analyses, the newest first. */
  failed: (owner: string) => Promise<readonly Failed[]>
  /** Submits the notice; the same key twice is one notice. */
  tell: (notice: Notice) => Promise<void>
  /** Whether an enabled channel would receive it. */
  hasChannel: (owner: string, ids: readonly string[] | null) => Promise<boolean>
}

type DigestSlot = { row: ScheduleRow; plan: SchedulePlan; slot: Slot; configuredLanguage: ReportLanguage }

export async function tellDigest(
  db: D1Database,
  deps: DigestDeps,
  { row, plan, slot, configuredLanguage }: DigestSlot,
): Promise<Pick<SlotOutcome, 'status' | 'detail'>> {
  const { what, when, channels } = plan
  if (what.kind !== 'digest') throw new Error('the slot is no digest')
  const { owner } = row
  if (!(await deps.hasChannel(owner, channels))) return { status: 'skipped', detail: 'no_channels' }
  const before = await lastStarted(db, row.id, slot.at)
  const day = slot.id.slice(0, 10)
  if (before?.slot.slice(0, 10) === day) return { status: 'skipped', detail: 'already_today' }
  const lists = (await listWatchlists(db, owner)).filter(
    ({ id }) => what.watchlist_id === null || id === what.watchlist_id,
  )
  const since = before?.dueAt ?? slot.at - DAY_MS
  const found = await watchDigest(db, { owner, lists, failed: await deps.failed(owner), since, until: slot.at })
  const digest = withoutSamples(found)
  if (digest.stocks === 0) return { status: 'skipped', detail: found.stocks === 0 ? 'no_stocks' : 'sample_data' }
  const zone = 'zone' in when ? when.zone : 'UTC'
  const message = watchDigestMessage(digest, { language: plan.report_language ?? configuredLanguage, zone })
  await deps.tell({ kind: 'text', key: `watchlist-digest:${row.id}:${day}`, owner, channels, ...message })
  return { status: 'started', detail: 'told' }
}

/** Sample data is not sent to anyone. */
function withoutSamples(digest: WatchDigest): WatchDigest {
  const changes = digest.changes.filter(({ isSample }) => !isSample)
  return { ...digest, changes, stocks: digest.stocks - (digest.changes.length - changes.length) }
}

// The digest of watchlists as a message.

/** Further lines are only counted, so that a message stays readable. */
const MOST_LINES = 100
const NAME_CHARACTERS = 40
const REASON_CHARACTERS = 160

type Words = {
  title: (date: string, changed: number, all: number) => string
  since: (moment: string) => string
  nothing: (count: number) => string
  unchanged: (count: number) => string
  withoutNew: (count: number) => string
  leftOut: (count: number) => string
  more: (count: number) => string
  first: string
  score: string
  none: string
  failed: string
  up: (level: string) => string
  down: (level: string) => string
}

export const DIGEST_TEXTS: Record<ReportLanguage, Words> = {
  zh: {
    title: (date, changed, all) => `自选日报 ${date}：${all} 只中 ${changed} 只有变化`,
    since: (moment) => `自 ${moment} 以来`,
    nothing: (count) => `${count} 只股票没有任何变化。`,
    unchanged: (count) => `${count} 只有新报告，内容未变`,
    withoutNew: (count) => `${count} 只没有新报告`,
    leftOut: (count) => `${count} 只超出上限，未包含在内`,
    more: (count) => `另有 ${count} 只有变化`,
    first: '首份报告',
    score: '评分',
    none: '无',
    failed: '分析失败',
    up: (level) => `升破${level}`,
    down: (level) => `跌破${level}`,
  },
  en: {
    title: (date, changed, all) => `Watchlist digest ${date}: ${changed} of ${all} changed`,
    since: (moment) => `Since ${moment}`,
    nothing: (count) => `Nothing changed. Looked at: ${count}.`,
    unchanged: (count) => `${count} with a new report that says the same`,
    withoutNew: (count) => `${count} without a new report`,
    leftOut: (count) => `${count} beyond the limit, not looked at`,
    more: (count) => `${count} more changed`,
    first: 'first report',
    score: 'score',
    none: 'none',
    failed: 'analysis failed',
    up: (level) => `rose to ${level}`,
    down: (level) => `fell to ${level}`,
  },
  ko: {
    title: (date, changed, all) => `관심 종목 요약 ${date}: ${all}개 중 ${changed}개 변화`,
    since: (moment) => `${moment} 이후`,
    nothing: (count) => `${count}개 종목에 변화가 없습니다.`,
    unchanged: (count) => `${count}개는 새 보고서가 같은 내용`,
    withoutNew: (count) => `${count}개는 새 보고서 없음`,
    leftOut: (count) => `${count}개는 한도를 넘어 제외`,
    more: (count) => `그 밖에 ${count}개 변화`,
    first: '첫 보고서',
    score: '점수',
    none: '없음',
    failed: '분석 실패',
    up: (level) => `${level} 상향 돌파`,
    down: (level) => `${level} 하향 돌파`,
  },
}

function watchDigestMessage(
  digest: WatchDigest,
  { language, zone }: { language: ReportLanguage; zone: string },
): { title: string; markdown: string } {
  const words = DIGEST_TEXTS[language]
  const { changes, unchanged, withoutNew, leftOut, stocks } = digest
  const title = words.title(momentIn(digest.until, zone).slice(0, 10), changes.length, stocks)
  const lines = changes.slice(0, MOST_LINES).map((change) => lineOf(change, words, language))
  const rest = Math.max(0, changes.length - MOST_LINES)
  const counts = [
    ...(rest > 0 ? [words.more(rest)] : []),
    ...(unchanged > 0 ? [words.unchanged(unchanged)] : []),
    ...(withoutNew > 0 ? [words.withoutNew(withoutNew)] : []),
    ...(leftOut > 0 ? [words.leftOut(leftOut)] : []),
  ]
  const body = changes.length === 0 ? words.nothing(stocks - leftOut) : lines.join('\n')
  const parts = [`# ${title}`, words.since(`${momentIn(digest.since, zone)} (${zone})`), body, counts.join(' · ')]
  return { title, markdown: parts.filter((part) => part !== '').join('\n\n') }
}

function momentIn(at: number, zone: string): string {
  const { date, secondOfDay } = wallClock(at, zone)
  const minutes = Math.floor(secondOfDay / 60)
  return `${date} ${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
}

function lineOf(change: StockChange, words: Words, language: ReportLanguage): string {
  const { stockCode, stockName, advice, score, price, crossed, failure, isFirst } = change
  const label = stockName === null ? stockCode : `${stockName.slice(0, NAME_CHARACTERS)} (${stockCode})`
  const said = (text: string | number | null) => escapeMarkdown(text === null ? words.none : String(text))
  const from = (one: { from: string | number | null; to: string | number | null }) =>
    isFirst ? said(one.to) : `${said(one.from)} → ${said(one.to)}`
  const parts = [
    ...(isFirst ? [words.first] : []),
    ...(advice === null ? [] : [`**${from(advice)}**`]),
    ...(score === null ? [] : [`${words.score} ${from(score)}`]),
    ...(price === null ? [] : [`${figure(price.from)} → ${figure(price.to)}${percentOf(price)}`]),
    ...crossed.map((crossing) => crossingText(crossing, words, language)),
    ...(failure === null ? [] : [`${words.failed}: ${escapeMarkdown(failure.slice(0, REASON_CHARACTERS))}`]),
  ]
  return `- ${escapeMarkdown(label)}: ${parts.join(' · ')}`
}

function crossingText({ level, price, direction }: Crossing, words: Words, language: ReportLanguage): string {
  const name = textsOf(language).report.level[level]
  return `${escapeMarkdown(words[direction](`${name} ${figure(price)}`))}`
}

const figure = (value: number): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: Math.abs(value) < 10 ? 4 : 2 })

function percentOf({ from, to }: { from: number; to: number }): string {
  if (from === 0) return ''
  const percent = (to / from - 1) * 100
  return ` (${percent > 0 ? '+' : ''}${percent.toFixed(2)}%)`
}
