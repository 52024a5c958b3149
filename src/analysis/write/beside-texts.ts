// The comparison of the listing with its market, in figures and text: index, liquidity, dates, peers. Each part exists
// even if nothing is known, and then says why.

import type { Judged } from '../judge/judge.ts'
import { PARTICIPATION_PCT, STRENGTH_SESSIONS } from '../judge/market-comparison.ts'
import { fill, textsOf } from '../texts/book.ts'
import { findingText, markFor, markOf, withMark } from '../texts/findings.ts'
import { figure, fixed, largeNumber, signedPct, withUnit } from '../texts/format.ts'

type Json = Record<string, unknown>

/** Fields of the raw result. */
export function besideMembers(judged: Judged): Json {
  return {
    market_comparison: wireComparison(judged),
    liquidity: wireLiquidity(judged),
    company_dates: wireDates(judged),
    peer_multiples: wirePeers(judged),
  }
}

/** While a session runs: what its volume ratio compares, or why there is none; null once it is over. */
export function liveRatioText(judged: Pick<Judged, 'partial' | 'sameTime' | 'dayVolumes' | 'language'>): string | null {
  const { partial, sameTime, dayVolumes, language } = judged
  const { noLiveRatio, unusableLiveRatio, liveRatioReason, liveRatioBasis } = textsOf(language).beside
  if (!partial) return null
  if (sameTime === null || !dayVolumes?.ok) return noLiveRatio
  if (!sameTime.isKnown) return fill(unusableLiveRatio, { reason: liveRatioReason[sameTime.reason] })
  const [hour, minute] = [Math.floor(sameTime.until / 60), sameTime.until % 60].map((n) => String(n).padStart(2, '0'))
  return fill(liveRatioBasis, { time: `${hour}:${minute}`, source: dayVolumes.provider })
}

function wireComparison(judged: Judged): Json {
  const { comparison, language } = judged
  const { status, benchmark, beta, strengthPct, indexFindings } = comparison
  return {
    label: textsOf(language).beside.label.comparison,
    status,
    index: benchmark && { code: benchmark.index.key, name: benchmark.names[language], publisher: benchmark.publisher },
    as_of: comparison.asOf,
    source: comparison.source,
    beta: figure(beta?.beta),
    r_squared: figure(beta?.rSquared),
    beta_returns: beta?.returns ?? null,
    ...Object.fromEntries(STRENGTH_SESSIONS.map((n) => [`relative_strength_${n}d_pct`, figure(strengthPct[n])])),
    index_checks: indexFindings.map((finding) => ({
      ...{ check: finding.check, verdict: finding.verdict, date: finding.date },
      text: findingText(finding, language),
    })),
    reason: comparison.reason,
    text: comparisonText(judged),
  }
}

function comparisonText({ comparison, consistency, language }: Judged): string {
  const { comparison: texts } = textsOf(language).beside
  const { status, benchmark, beta, strengthPct, asOf, indexChecks } = comparison
  const index = benchmark?.names[language] ?? ''
  const mark = markOf(indexChecks, language)
  const ofIndex = mark === '' ? '' : fill(texts.ofIndex, { mark })
  if (status !== 'told') return fill(texts[status], { index }) + ofIndex
  const betaText =
    beta === null
      ? texts.noBeta
      : fill(texts.beta, { beta: fixed(beta.beta, 2), fit: fixed(beta.rSquared, 2), count: beta.returns })
  const strength = STRENGTH_SESSIONS.map((n) => strengthPct[n]).map((pct) => (pct === null ? '–' : signedPct(pct, 1)))
  const told = fill(texts.told, { index, date: asOf ?? '', beta: betaText, strength: strength.join(' / ') })
  return withMark(told + ofIndex, markFor(consistency, ['averages'], language))
}

function wireLiquidity(judged: Judged): Json {
  const { liquidity, language } = judged
  return {
    label: textsOf(language).beside.label.liquidity,
    status: liquidity.status,
    average_turnover: figure(liquidity.averageTurnover),
    participation_pct: PARTICIPATION_PCT,
    position: liquidity.position,
    currency: liquidity.currency,
    most_per_session: figure(liquidity.mostASession),
    sessions_to_sell: figure(liquidity.sessionsToSell),
    text: liquidityText(judged),
  }
}

function liquidityText({ liquidity, consistency, language }: Judged): string {
  const { liquidity: texts } = textsOf(language).beside
  const { status, position, mostASession, sessionsToSell, currency } = liquidity
  const money = (value: number | null) =>
    value === null ? '–' : withUnit(largeNumber(value, language), currency, language)
  const values = { share: PARTICIPATION_PCT, most: money(mostASession), position: money(position) }
  if (status !== 'told') return fill(texts[status], values)
  // Rounded up, never less than it takes.
  const days = Math.ceil((sessionsToSell ?? 0) * 10 - 1e-9) / 10
  const time = days < 1 ? texts.lessThanOne : fill(texts.sessions, { count: fixed(days, 1) })
  const told = fill(texts.told, { ...values, time })
  return withMark(told, markFor(consistency, ['volume'], language))
}

function wireDates(judged: Judged): Json {
  const { dates, language } = judged
  return {
    label: textsOf(language).beside.label.dates,
    status: dates.status,
    results_for: dates.resultsFor,
    results_told_on: dates.resultsToldOn,
    // No supported source has it.
    next_results_on: null,
    last_ex_dividend_on: dates.lastExDividend,
    next_ex_dividend_on: dates.nextExDividend,
    text: datesText(judged),
  }
}

function datesText({ dates, instrument, language }: Judged): string {
  const { analysis, beside } = textsOf(language)
  const { dates: texts } = beside
  const { status, resultsFor, resultsToldOn, lastExDividend, nextExDividend } = dates
  if (status === 'sample') return texts.sample
  if (instrument.kind !== 'stock') return texts.notCompany
  if (status !== 'ok') return analysis.partState[status]
  const results = resultsToldOn === null ? texts.resultsFor : texts.resultsTold
  return [
    resultsFor === null ? texts.noResults : fill(results, { date: resultsFor, told: resultsToldOn ?? '' }),
    texts.noNextResults,
    ...(lastExDividend === null ? [] : [fill(texts.lastExDividend, { date: lastExDividend })]),
    nextExDividend === null ? texts.noNextExDividend : fill(texts.nextExDividend, { date: nextExDividend }),
  ].join(beside.join)
}

function wirePeers(judged: Judged): Json {
  const { peers, language } = judged
  return {
    label: textsOf(language).beside.label.peers,
    status: peers.status,
    board: peers.board,
    companies: peers.count,
    companies_with_loss: peers.losses,
    pe: figure(peers.own.pe),
    median_pe: figure(peers.median.pe),
    pb: figure(peers.own.pb),
    median_pb: figure(peers.median.pb),
    source: peers.source,
    text: peersText(judged),
  }
}

function peersText({ peers, instrument, consistency, language }: Judged): string {
  const { peers: texts } = textsOf(language).beside
  const { status, board, count, losses, own, median } = peers
  if (instrument.kind !== 'stock') return texts.notCompany
  if (status !== 'ok') return texts[status]
  const ratio = (value: number | null) => (value === null ? '–' : fixed(value, 2))
  const values = { pe: ratio(median.pe), ownPe: ratio(own.pe), pb: ratio(median.pb), ownPb: ratio(own.pb) }
  const lossless = losses === 0 ? '' : fill(texts.losses, { losses })
  const told = fill(texts.told, { board: board ?? '', count, ...values }) + lossless
  return withMark(told, markFor(consistency, ['price', 'valuation'], language))
}
