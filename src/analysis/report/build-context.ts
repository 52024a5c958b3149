import { isoMicros } from '../../lib/clock.ts'
import type { Bar, Quote } from '../../market/bars.ts'
import type { Dimension } from '../../news/article.ts'
import type { NewsResult } from '../../news/search.ts'
import { newsOfListing } from '../judge/evidence.ts'
import type { ReportLanguage } from '../schemas.ts'
import { wireProvenance } from '../schemas.ts'
import { textsOf } from '../texts/book.ts'
import { figure, keptDecimals } from '../texts/format.ts'
import { liveRatioText } from '../write/beside-texts.ts'
import { fundamentalContext } from './company.ts'
import { wireConsistency } from './consistency.ts'
import { type Facts, quoteSource } from './facts.ts'
import { chartSeries, trendAnalysisOf } from './trend-analysis.ts'

type Json = Record<string, unknown>

/** The context of a report. The pack overview and the market phase have their own fields, not here. */
export function contextSnapshot(facts: Facts): Json {
  const chips = wireChips(facts)
  return {
    consistency: wireConsistency(facts.consistency, facts.language),
    enhanced_context: enhancedContext(facts),
    news_content: newsContent(facts.news, facts.language),
    news_retrieval_content: null,
    news_items: facts.news?.items ?? [],
    news_result_count: facts.newsEvidence.count,
    news_age_seconds: facts.news?.ageSeconds ?? null,
    social_sentiment: facts.news?.social ?? null,
    realtime_quote_raw: facts.quote && quoteFields(facts.quote, facts),
    chip_distribution_raw: chips,
    chart_series: chartSeries(facts.bars, facts.decimals),
    market_structure_context: null,
    diagnostics: facts.diagnostics,
    skills: facts.request.skills,
  }
}

function enhancedContext(facts: Facts): Json {
  const { instrument, today, yesterday, technical, nearby, price, language, narrative } = facts
  return {
    code: instrument.key,
    stock_name: facts.displayName,
    date: today?.date ?? null,
    today: today && { ...barFields(today, facts), is_partial: facts.partial },
    yesterday: yesterday && barFields(yesterday, facts),
    realtime: realtime(facts),
    chip: wireChips(facts),
    trend_analysis:
      technical && nearby && price !== null
        ? trendAnalysisOf({
            ...{ technical, price, nearby, texts: narrative, language },
            adjustment: facts.consistency.adjustment,
            decimals: facts.decimals,
          })
        : null,
    fundamental_context: fundamentalContext(facts),
    market_structure_context: null,
    report_language: language,
    news_window_days: facts.news?.maxAgeDays || null,
    is_index_etf: instrument.kind !== 'stock',
    ma_status: technical && textsOf(language).report.trendState[technical.trend],
    // One is in percent, the other a plain ratio: readers expect them like this.
    price_change_ratio: today && yesterday ? figure(changePct(today, yesterday)) : null,
    volume_change_ratio: figure(volumeChange(facts)),
    currency: facts.currency,
    price_decimals: facts.decimals,
    bar_count: facts.barCount,
    bars_age_seconds: barsAge(facts),
    data_provenance: wireProvenance(facts.provenance),
  }
}

function wireChips({ chips, decimals }: Facts): Json | null {
  if (chips === null) return null
  const { cost90, cost70 } = chips
  const priced = (price: number) => figure(price, keptDecimals(decimals))
  return {
    profit_ratio: figure(chips.profitRatio),
    avg_cost: priced(chips.averageCost),
    cost_90_low: priced(cost90.low),
    cost_90_high: priced(cost90.high),
    concentration_90: figure(cost90.concentration),
    cost_70_low: priced(cost70.low),
    cost_70_high: priced(cost70.high),
    concentration_70: figure(cost70.concentration),
    source: 'computed',
    bars: chips.bars,
  }
}

/** Of completed sessions, because a part of a day is not comparable. */
function volumeChange({ today, yesterday, partial }: Facts): number | null {
  return !partial && today?.volume && yesterday?.volume ? today.volume / yesterday.volume : null
}

function changePct(today: Bar, yesterday: Bar): number | null {
  return yesterday.close === 0 ? null : (today.close / yesterday.close - 1) * 100
}

function barFields({ date, open, high, low, close, volume, amount }: Bar, { consistency }: Facts): Json {
  const isWithheld = consistency.withheld.includes('volume')
  return { date, open, high, low, close, volume: isWithheld ? null : volume, amount }
}

const SESSIONS_60 = 60

/** The change over sixty sessions in percent; null when there are fewer bars. */
function change60(bars: readonly Bar[]): number | null {
  const [before, last] = [bars.at(-1 - SESSIONS_60), bars.at(-1)]
  return before === undefined || last === undefined ? null : figure(changePct(last, before))
}

/** The age of the bars, if they were cached. */
function barsAge({ diagnostics }: Facts): number | null {
  return (
    diagnostics.provider_runs.findLast((run) => run.data_type === 'daily_data' && run.success)?.stale_seconds ?? null
  )
}

function realtime(facts: Facts): Json {
  const { quote, diagnostics } = facts
  const answered = diagnostics.provider_runs.find((run) => run.data_type === 'realtime_quote' && run.success)
  return {
    name: quote?.name ?? null,
    price: facts.price,
    change_pct: facts.changePct,
    volume_ratio: figure(facts.technical?.indicators.volumeRatio),
    volume_ratio_desc: liveRatioText(facts),
    turnover_rate: quote?.turnoverRatePct ?? null,
    pe_ratio: quote?.peRatio ?? null,
    pb_ratio: quote?.pbRatio ?? null,
    total_mv: quote?.totalMarketValue ?? null,
    circ_mv: quote?.circulatingMarketValue ?? null,
    change_60d: change60(facts.bars),
    source: quoteSource(facts),
    // A bundled series is not fetched: it only has its own time.
    fetched_at: quote === null || facts.provenance ? null : (answered?.created_at ?? null),
    provider_timestamp: timestamp(quote),
    is_stale: facts.provenance !== null,
    stale_seconds: ageSeconds(facts),
    fallback_from: answered?.fallback_from ?? null,
  }
}

function quoteFields(quote: Quote, facts: Facts): Json {
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
    source: quoteSource(facts),
    provider_timestamp: timestamp(quote),
  }
}

function timestamp(quote: Quote | null): string | null {
  return quote === null || quote.quotedAt === null ? null : isoMicros(quote.quotedAt)
}

function ageSeconds({ quote, now }: Facts): number | null {
  return quote === null || quote.quotedAt === null ? null : Math.max(0, Math.round((now - quote.quotedAt) / 1000))
}

/** The news as one text, by topic; null when there are none about the listing, never a placeholder. */
export function newsContent(news: NewsResult | null, language: ReportLanguage): string | null {
  if (news === null || (newsOfListing(news).length === 0 && news.social === null)) return null
  const { newsDimension } = textsOf(language).report
  const parts = (Object.keys(newsDimension) as Dimension[]).flatMap((dimension) => {
    const items = news.items.filter((item) => item.dimension === dimension)
    if (items.length === 0) return []
    const lines = items.map(({ title, source, publishedAt, snippet }, i) => {
      const origin = [source, publishedAt?.slice(0, 10)].filter(Boolean).join(', ')
      return `${i + 1}. ${title}${origin === '' ? '' : ` (${origin})`}${snippet === '' ? '' : `\n   ${snippet}`}`
    })
    return [`【${newsDimension[dimension]}】\n${lines.join('\n')}`]
  })
  return [...parts, ...(news.social === null ? [] : [news.social.text])].join('\n\n')
}
