// What a due slot comes to: which of its markets are open, and which requests that makes. Nothing here touches a store.

import type { TaskRequest } from '../analysis/task.ts'
import { hexId } from '../lib/ids.ts'
import { isTradingDay, localDate } from '../market/calendar.ts'
import { type Instrument, type Market, parseCode } from '../market/instruments.ts'
import type { ReportLanguage } from '../reports/report.ts'
import { strictRegions } from '../review/regions.ts'
import { reviewRequest } from '../review/review-request.ts'
import type { SchedulePlan } from './plan.ts'
import type { Slot } from './slots.ts'

export type ScheduledStock = { key: string; stockCode: string; stockName: string | null }

export type Due =
  | { kind: 'review'; request: TaskRequest; leftOut: string[] }
  | { kind: 'analysis'; requests: TaskRequest[]; leftOut: string[] }
  /** Every market of it is closed that day, or there is no stock. */
  | { kind: 'nothing'; reason: 'market_closed' | 'no_stocks'; leftOut: string[] }

type Circumstances = { slot: Slot; configuredLanguage: ReportLanguage; stocks: readonly ScheduledStock[] }

export function dueWork(plan: SchedulePlan, { slot, configuredLanguage, stocks }: Circumstances): Due {
  const isOpen = (market: Market) => !plan.trading_days_only || isTradingDay(market, localDate(market, slot.at))
  const isWanted = (market: Market) => (slot.market === null || slot.market === market) && isOpen(market)
  const isLeftOut = (market: Market) => (slot.market === null || slot.market === market) && !isOpen(market)
  if (plan.what.kind === 'market_review') {
    const regions = strictRegions(plan.what.region) ?? []
    const leftOut = regions.filter(isLeftOut)
    const open = regions.filter(isWanted)
    if (open.length === 0) return { kind: 'nothing', reason: 'market_closed', leftOut }
    const request = reviewRequest({
      regions: open,
      reportLanguage: plan.report_language,
      configuredLanguage,
      notify: plan.notify,
      channels: plan.channels,
      priority: 'scheduled',
    })
    return { kind: 'review', request, leftOut }
  }
  const known = stocks.flatMap((stock) => {
    const instrument = instrumentOf(stock)
    return instrument === null ? [] : [{ stock, market: instrument.market }]
  })
  const leftOut = known.filter(({ market }) => isLeftOut(market)).map(({ stock }) => stock.stockCode)
  const open = known.filter(({ market }) => isWanted(market)).map(({ stock }) => stock)
  if (open.length === 0) return { kind: 'nothing', reason: known.length === 0 ? 'no_stocks' : 'market_closed', leftOut }
  const batch = hexId()
  return {
    kind: 'analysis',
    requests: open.map((stock) => requestOf(plan, stock, { batch, configuredLanguage })),
    leftOut,
  }
}

/** The markets that a plan is about: those whose close it may wait for. */
export function marketsOf(plan: SchedulePlan, stocks: readonly ScheduledStock[]): Market[] {
  if (plan.what.kind === 'market_review') return strictRegions(plan.what.region) ?? []
  return [...new Set(stocks.flatMap((stock) => instrumentOf(stock)?.market ?? []))]
}

function instrumentOf({ key }: ScheduledStock): Instrument | null {
  const parsed = parseCode(key)
  return parsed.ok ? parsed.instrument : null
}

type Terms = { batch: string; configuredLanguage: ReportLanguage }

function requestOf(plan: SchedulePlan, stock: ScheduledStock, { batch, configuredLanguage }: Terms): TaskRequest {
  return {
    kind: 'analysis',
    key: stock.key,
    stockCode: stock.stockCode,
    stockName: stock.stockName,
    reportType: plan.report_type,
    analysisPhase: 'auto',
    language: plan.report_language ?? configuredLanguage,
    reportLanguage: plan.report_language,
    skills: null,
    originalQuery: null,
    selectionSource: 'schedule',
    forceRefresh: false,
    notify: plan.notify,
    region: null,
    priority: 'scheduled',
    batch,
    channels: plan.channels,
  }
}
