// Which results are about the listing, recent enough, and not pages of quotes. Results without a date are kept, after
// those with one.

import type { Instrument } from '../market/instruments.ts'
import type { Dimension, Hit } from './article.ts'

const DAY_MS = 86_400_000
/** Zones and clocks differ; a date further in the future is invalid. */
const FUTURE_MS = DAY_MS

export function relevantHits(hits: readonly Hit[], question: Question, about: Subject & { now: number }): Hit[] {
  const terms = termsOf(about)
  const oldest = about.now - question.days * DAY_MS
  const scored = hits.flatMap((hit, place) => {
    if (isSpam(hit) || !isInTime(hit, oldest, about.now)) return []
    const score = question.dimension === 'industry' ? Math.max(1, scoreOf(hit, terms)) : scoreOf(hit, terms)
    return score === 0 ? [] : [{ hit, rank: (hit.publishedAt === null ? 0 : 10) + score, place }]
  })
  return scored.sort((a, b) => b.rank - a.rank || a.place - b.place).map(({ hit }) => hit)
}

function isInTime({ publishedAt }: Hit, oldest: number, now: number): boolean {
  if (publishedAt === null) return true
  const at = Date.parse(publishedAt)
  // A date without a time counts until its end.
  const end = publishedAt.length <= 10 || publishedAt.endsWith('T00:00:00Z') ? at + DAY_MS : at
  return end >= oldest && at <= now + FUTURE_MS
}

// Quote pages and forums are found for every code and contain no news.
const SPAM =
  /股票行情|实时行情|行情走势|走势图|股吧|历史数据|个股首页|百度百科|维基百科|stock (price|quote)s?( today)?( chart)?\s*[-|]|historical (prices|data)|wikipedia|彩票|博彩|招聘|casino|lottery/i

const isSpam = ({ title }: Hit): boolean => SPAM.test(title)

/** A match in the title counts more than one in the text. */
function scoreOf({ title, snippet }: Hit, terms: readonly Term[]): number {
  if (terms.some((term) => term.test(title))) return 3
  return terms.some((term) => term.test(snippet)) ? 1 : 0
}

type Term = { test(text: string): boolean }

function termsOf({ instrument, names }: Subject): Term[] {
  const chinese = (names.zh ?? '').replace(/^\*?ST/, '').replace(/(股份|集团|控股|-[A-Z]+)$/, '')
  const words = [names.zh ?? '', chinese].filter((word) => word.length >= 2)
  return [...words.map((word) => contains(word)), ...englishTerms(names.en ?? ''), ...codeTerms(instrument)]
}

const contains = (word: string): Term => ({ test: (text) => text.toLowerCase().includes(word.toLowerCase()) })
const asWord = (word: string): Term => {
  const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![A-Za-z0-9])${escaped}(?![A-Za-z0-9])`, 'i')
}

const COMMON = new Set([
  'china',
  'bank',
  'group',
  'holdings',
  'international',
  'the',
  'first',
  'general',
  'american',
  'united',
  'new',
  'limited',
  'company',
  'corporation',
  'technology',
  'energy',
  'industrial',
  'industries',
  'national',
  'global',
  'hong',
  'kong',
  'japan',
  'korea',
  'taiwan',
])

/** The whole name, and each word of it that other companies do not have. */
function englishTerms(name: string): Term[] {
  if (name === '') return []
  const words = name.split(/[^A-Za-z0-9&]+/).filter((word) => word.length >= 4 && !COMMON.has(word.toLowerCase()))
  return [asWord(name), ...words.map(asWord)]
}

function codeTerms({ key, code }: Instrument): Term[] {
  // One or two letters are a word in many languages.
  return [key, code].filter((text) => text.length >= 3).map(asWord)
}

/** Without duplicates: by address without tracking parameters, and by title. */
export function withoutDoubles<T extends Hit>(hits: readonly T[]): T[] {
  const seen = new Set<string>()
  return hits.filter((hit) => {
    const marks = [addressOf(hit.url), `title:${hit.title.toLowerCase().replace(/[\s\p{P}]+/gu, '')}`]
    if (marks.some((mark) => seen.has(mark))) return false
    for (const mark of marks) seen.add(mark)
    return true
  })
}

function addressOf(url: string): string {
  const { host, pathname, searchParams } = new URL(url)
  const kept = [...searchParams].filter(([name]) => !/^(utm_|spm|from|ref|source|share)/i.test(name))
  return `${host.replace(/^(www|m)\./, '')}${pathname.replace(/\/+$/, '')}?${new URLSearchParams(kept)}`
}

// Topics that matter more than a chart, from any source.
const SERIOUS =
  /立案|退市|财务造假|强制执行|破产|欺诈|delist|fraud|bankrupt|chapter 11|criminal (charge|probe)|상장폐지|분식회계/i

export const isSerious = ({ title, snippet }: Hit): boolean => SERIOUS.test(`${title} ${snippet}`)

// The search query: the name and the code with the words of each topic. The name is decisive, so it comes from the list
// of listings, never from a source or a model.

export type Subject = {
  instrument: Instrument
  /** The listing's names; empty when there are none. */
  names: { zh?: string | null | undefined; en?: string | null | undefined }
}

export type Question = {
  dimension: Dimension
  text: string
  language: 'zh' | 'en'
  days: number
  /** Old news on these topics is worthless. */
  isNews: boolean
}

const ANALYTICAL_DAYS = 180

const WORDS: Record<'zh' | 'en', Record<Dimension, string>> = {
  zh: {
    latest_news: '最新消息',
    announcements: '公告',
    risk_check: '减持 处罚 立案 解禁 风险',
    earnings: '业绩 营收 净利润',
    market_analysis: '研报 评级 目标价',
    industry: '行业 竞争 市场份额',
  },
  en: {
    latest_news: 'stock latest news',
    announcements: 'announcement filing',
    risk_check: 'lawsuit investigation downgrade insider selling risk',
    earnings: 'earnings revenue profit guidance',
    market_analysis: 'analyst rating price target',
    industry: 'industry competition market share',
  },
}

const NEWS: readonly Dimension[] = ['latest_news', 'announcements', 'risk_check']

/** One query for each topic, the most important first. */
export function questionsOf({ instrument, names }: Subject, maxAgeDays: number): Question[] {
  const language = instrument.market === 'cn' ? 'zh' : 'en'
  const name = (language === 'zh' ? names.zh || names.en : names.en || names.zh) ?? ''
  const isCompany = instrument.kind === 'stock'
  const wanted: Dimension[] = isCompany
    ? ['latest_news', 'risk_check', 'announcements', 'earnings', 'market_analysis', 'industry']
    : ['latest_news', 'market_analysis']
  return wanted.map((dimension) => {
    const isNews = NEWS.includes(dimension)
    const text = `${name} ${codeWord(instrument)} ${WORDS[language][dimension]}`.replace(/\s+/g, ' ').trim()
    return { dimension, text, language, days: isNews ? maxAgeDays : ANALYTICAL_DAYS, isNews }
  })
}

const codeWord = ({ key, code, market, exchange }: Instrument): string => {
  if (market === 'hk') return `${code}.HK`
  return market === 'cn' && exchange === 'SH' && key !== code ? '' : key
}
