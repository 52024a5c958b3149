import { isoMicros } from '../lib/clock.ts'
import type { Bar, Quote } from '../market/bars.ts'
import type { AnalysisFacts } from './build.ts'
import { chartSeries } from './chart-series.ts'
import { fundamentalContext } from './company.ts'
import { labelsOf } from './labels.ts'
import { newsContent } from './news-content.ts'
import { wireProvenance } from './provenance.ts'
import { figure, trendAnalysisOf } from './trend-analysis.ts'

type Json = Record<string, unknown>

/** The context a report was made in. The pack overview and the market phase stand in their own places, not in here. */
export function contextSnapshot(facts: AnalysisFacts): Json {
  const chips = wireChips(facts.chips)
  return {
    enhanced_context: enhancedContext(facts),
    news_content: newsContent(facts.newsFound, facts.language),
    news_retrieval_content: null,
    news_items: facts.newsFound?.items ?? [],
    news_result_count: facts.news.count,
    news_age_seconds: facts.newsFound?.ageSeconds ?? null,
    social_sentiment: facts.newsFound?.social ?? null,
    realtime_quote_raw: facts.quote && quoteFields(facts.quote, facts),
    chip_distribution_raw: chips,
    chart_series: chartSeries(facts.bars),
    market_structure_context: null,
    diagnostics: facts.diagnostics,
    skills: facts.skills,
  }
}

function enhancedContext(facts: AnalysisFacts): Json {
  const { instrument, today, yesterday, technical, nearby, price, language, narrative, company, flow } = facts
  return {
    code: instrument.key,
    stock_name: facts.displayName,
    date: today?.date ?? null,
    today: today && { ...barFields(today), is_partial: facts.partial },
    yesterday: yesterday && barFields(yesterday),
    realtime: realtime(facts),
    chip: wireChips(facts.chips),
    trend_analysis:
      technical && nearby && price !== null
        ? trendAnalysisOf({ technical, price, nearby, texts: narrative, language })
        : null,
    fundamental_context: fundamentalContext({
      company,
      flow,
      value: facts.value,
      quoteSource: facts.quoteSource,
      isSampled: facts.provenance !== null,
    }),
    market_structure_context: null,
    report_language: language,
    news_window_days: facts.newsFound?.maxAgeDays || null,
    is_index_etf: instrument.kind !== 'stock',
    ma_status: technical && labelsOf(language).trendState[technical.trend],
    // In percent the one, a plain ratio the other: that is how their readers take them.
    price_change_ratio: today && yesterday ? figure(changePct(today, yesterday)) : null,
    volume_change_ratio: today && yesterday?.volume ? figure(today.volume / yesterday.volume) : null,
    currency: facts.currency,
    price_decimals: facts.decimals,
    bar_count: facts.barCount,
    bars_age_seconds: barsAge(facts),
    data_provenance: wireProvenance(facts.provenance),
  }
}

function wireChips(chips: AnalysisFacts['chips']): Json | null {
  if (chips === null) return null
  const { cost90, cost70 } = chips
  return {
    profit_ratio: figure(chips.profitRatio),
    avg_cost: figure(chips.averageCost),
    cost_90_low: figure(cost90.low),
    cost_90_high: figure(cost90.high),
    concentration_90: figure(cost90.concentration),
    cost_70_low: figure(cost70.low),
    cost_70_high: figure(cost70.high),
    concentration_70: figure(cost70.concentration),
    source: 'computed',
    bars: chips.bars,
  }
}

function changePct(today: Bar, yesterday: Bar): number | null {
  return yesterday.close === 0 ? null : (today.close / yesterday.close - 1) * 100
}

function barFields({ date, open, high, low, close, volume, amount }: Bar): Json {
  return { date, open, high, low, close, volume, amount }
}

/** How long ago the bars were fetched, when they were kept from before. */
function barsAge({ diagnostics }: AnalysisFacts): number | null {
  return (
    diagnostics.provider_runs.findLast((run) => run.data_type === 'daily_data' && run.success)?.stale_seconds ?? null
  )
}

function realtime(facts: AnalysisFacts): Json {
  const { quote, diagnostics, quoteSource } = facts
  const answered = diagnostics.provider_runs.find((run) => run.data_type === 'realtime_quote' && run.success)
  return {
    name: quote?.name ?? null,
    price: facts.price,
    change_pct: facts.changePct,
    volume_ratio: quote?.volumeRatio ?? null,
    volume_ratio_desc: null,
    turnover_rate: quote?.turnoverRatePct ?? null,
    pe_ratio: quote?.peRatio ?? null,
    pb_ratio: quote?.pbRatio ?? null,
    total_mv: quote?.totalMarketValue ?? null,
    circ_mv: quote?.circulatingMarketValue ?? null,
    change_60d: null,
    source: quoteSource,
    // A bundled series is not fetched: its only time is its own.
    fetched_at: quote === null || facts.provenance ? null : (answered?.created_at ?? null),
    provider_timestamp: timestamp(quote),
    is_stale: facts.provenance !== null,
    stale_seconds: ageSeconds(facts),
    fallback_from: answered?.fallback_from ?? null,
  }
}

function quoteFields(quote: Quote, facts: AnalysisFacts): Json {
  const { price, prevClose, open, high, low, volume, amount, change, changePct } = quote
  return {
    price,
    change_pct: changePct,
    change_amount: change,
    prev_close: prevClose,
    open_price: open,
    high,
    low,
    volume,
    amount,
    currency: quote.currency,
    source: facts.quoteSource,
    provider_timestamp: timestamp(quote),
  }
}

function timestamp(quote: Quote | null): string | null {
  return quote === null || quote.quotedAt === null ? null : isoMicros(quote.quotedAt)
}

function ageSeconds({ quote, createdAt }: AnalysisFacts): number | null {
  return quote === null || quote.quotedAt === null ? null : Math.max(0, Math.round((createdAt - quote.quotedAt) / 1000))
}
