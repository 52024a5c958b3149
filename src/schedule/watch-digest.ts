// What changed in an owner's watchlists since a given time: the report of each stock from before that time compared
// with the current one, and the analyses that failed in between. Prices are those of the two reports: no request is
// sent to a source.

import { z } from 'zod'
import type { Task } from '../analysis/task.ts'
import { type ComparedReport, reportsStandingAt } from '../db/analyses.ts'
import type { Watchlist } from '../db/watchlists.ts'
import { isoMicros } from '../lib/clock.ts'

/** Further stocks are counted as left out: each costs two queries. */
const MOST_STOCKS = 2_000

export const LEVEL_NAMES = ['ideal_buy', 'secondary_buy', 'stop_loss', 'take_profit'] as const
export type LevelName = (typeof LEVEL_NAMES)[number]
const Levels = z.array(z.object({ key: z.string(), price: z.number() }))

type FromTo<T> = { from: T; to: T }
export type Crossing = { level: LevelName; price: number; direction: 'up' | 'down' }

export type StockChange = {
  key: string
  stockCode: string
  stockName: string | null
  note: string
  /** The names of the groups that contain it. */
  groups: string[]
  /** The current report; null if there is none. */
  taskId: string | null
  /** There was no earlier report. */
  isFirst: boolean
  isSample: boolean
  advice: FromTo<string | null> | null
  score: FromTo<number | null> | null
  price: FromTo<number> | null
  /** Levels of the earlier report that lie between the two prices. */
  crossed: Crossing[]
  /** Why the newest analysis failed, if no report followed it. */
  failure: string | null
}

export type WatchDigest = {
  since: number
  until: number
  stocks: number
  changes: StockChange[]
  /** The new report says the same as the earlier one. */
  unchanged: number
  /** No report was made since that time. */
  withoutNew: number
  /** Not in the digest, because there are too many. */
  leftOut: number
}

export type Failed = Pick<Task, 'request' | 'error' | 'completedAt'>

export type DigestQuestion = {
  owner: string
  lists: readonly Watchlist[]
  failed: readonly Failed[]
  since: number
  until: number
}

export async function watchDigest(
  db: D1Database,
  { owner, lists, failed, since, until }: DigestQuestion,
): Promise<WatchDigest> {
  const all = watchedIn(lists)
  const stocks = all.slice(0, MOST_STOCKS)
  const keys = stocks.map(({ key }) => key)
  const before = await reportsStandingAt(db, { owner, keys, at: isoMicros(since) })
  const after = await reportsStandingAt(db, { owner, keys, at: isoMicros(until) })
  const failures = failuresOf(failed, { since, until })
  const digest: WatchDigest = {
    since,
    until,
    stocks: all.length,
    changes: [],
    unchanged: 0,
    withoutNew: 0,
    leftOut: all.length - stocks.length,
  }
  for (const stock of stocks) {
    const [then, now] = [before.get(stock.key) ?? null, after.get(stock.key) ?? null]
    const change = changeOf(stock, { then, now, failure: failures.get(stock.key) ?? null })
    if (change !== null) digest.changes.push(change)
    else if (now === null || now.queryId === then?.queryId) digest.withoutNew += 1
    else digest.unchanged += 1
  }
  return { ...digest, changes: digest.changes.sort((a, b) => weight(b) - weight(a)) }
}

type Watched = Pick<StockChange, 'key' | 'stockCode' | 'stockName' | 'note' | 'groups'>

/** Each stock once, with all its groups, in the owner's order. */
function watchedIn(lists: readonly Watchlist[]): Watched[] {
  const found = new Map<string, Watched>()
  for (const { name, stocks } of lists) {
    for (const { key, stockCode, stockName, note } of stocks) {
      const known = found.get(key)
      if (known === undefined) found.set(key, { key, stockCode, stockName, note: note ?? '', groups: [name.trim()] })
      else known.groups.push(name.trim())
    }
  }
  return [...found.values()]
}

type Failure = { at: number; reason: string }

function failuresOf(failed: readonly Failed[], { since, until }: { since: number; until: number }) {
  const newest = new Map<string, Failure>()
  for (const { request, error, completedAt: at } of failed) {
    if (request.key === null || at === null || at <= since || at > until) continue
    if (at > (newest.get(request.key)?.at ?? 0)) newest.set(request.key, { at, reason: error ?? '' })
  }
  return newest
}

type Standing = { then: ComparedReport | null; now: ComparedReport | null; failure: Failure | null }

/** Null if nothing changed. */
function changeOf(stock: Watched, { then, now, failure }: Standing): StockChange | null {
  const isNew = now !== null && now.queryId !== then?.queryId
  const isFailed = failure !== null && !(isNew && Date.parse(now.createdAt) >= failure.at)
  const pair = isNew && then !== null ? { then, now } : null
  const change: StockChange = {
    ...stock,
    stockName: now?.stockName ?? stock.stockName,
    taskId: now?.queryId ?? null,
    isFirst: isNew && then === null,
    isSample: (now?.dataNotice ?? null) !== null,
    advice: pair && isOtherAdvice(pair.then, pair.now) ? { from: adviceOf(pair.then), to: adviceOf(pair.now) } : null,
    score: pair && differing(pair.then.sentimentScore, pair.now.sentimentScore),
    price: pair && priceChange(pair.then.currentPrice, pair.now.currentPrice),
    crossed: pair === null ? [] : crossings(pair.then, pair.now.currentPrice),
    failure: isFailed ? failure.reason : null,
  }
  if (change.isFirst && now !== null) {
    change.advice = { from: null, to: adviceOf(now) }
    change.score = { from: null, to: now.sentimentScore }
  }
  const isChanged = change.isFirst || isFailed || change.advice || change.score || change.price
  return isChanged || change.crossed.length > 0 ? change : null
}

/** The words may be in two languages, so the actions are compared. */
const isOtherAdvice = (then: ComparedReport, now: ComparedReport): boolean =>
  then.action === null && now.action === null
    ? then.operationAdvice !== now.operationAdvice
    : then.action !== now.action

const adviceOf = ({ actionLabel, operationAdvice }: ComparedReport): string | null => actionLabel ?? operationAdvice

const differing = <T>(from: T, to: T): FromTo<T> | null => (from === to ? null : { from, to })

const priceChange = (from: number | null, to: number | null): FromTo<number> | null =>
  from === null || to === null ? null : differing(from, to)

/** A price that reaches a level has crossed it; a price that started at the level has not. */
function crossings({ levels, currentPrice: from }: ComparedReport, to: number | null): Crossing[] {
  if (levels === null || from === null || to === null) return []
  return Levels.parse(JSON.parse(levels)).flatMap(({ key, price }): Crossing[] => {
    const level = LEVEL_NAMES.find((name) => name === key)
    if (level === undefined) return []
    if (from < price && to >= price) return [{ level, price, direction: 'up' }]
    return from > price && to <= price ? [{ level, price, direction: 'down' }] : []
  })
}

/** The most important first: advice, levels, failures, then the largest moves. */
function weight({ advice, crossed, failure, isFirst, score, price }: StockChange): number {
  const moved = score === null || isFirst ? 0 : Math.abs((score.to ?? 0) - (score.from ?? 0))
  const percent = price === null || price.from === 0 ? 0 : Math.abs(price.to / price.from - 1) * 100
  const first = (isFirst ? 0 : advice !== null ? 8_000 : 0) + (crossed.length > 0 ? 4_000 : 0)
  return first + (failure !== null ? 2_000 : 0) + Math.min(1_000, moved * 10 + percent)
}
