// What is searched for: the name and the code with the words of each subject. The name decides everything, so it comes from
// the list of listings, never from a source or a model.

import type { Instrument } from '../market/instruments.ts'
import type { Dimension } from './article.ts'

export type Subject = {
  instrument: Instrument
  /** The listing's names; empty where there is none. */
  names: { zh?: string | null | undefined; en?: string | null | undefined }
}

export type Question = {
  dimension: Dimension
  text: string
  language: 'zh' | 'en'
  days: number
  /** Old news on these subjects are worth nothing. */
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

/** One question a subject, the most wanted first. */
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
