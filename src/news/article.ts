import { z } from 'zod'

/** The topics of a search. */
const DIMENSIONS = ['latest_news', 'announcements', 'risk_check', 'earnings', 'market_analysis', 'industry'] as const
export type Dimension = (typeof DIMENSIONS)[number]

/** One result of a search provider, cleaned. */
export type Hit = {
  title: string
  snippet: string
  url: string
  source: string | null
  /** ISO 8601, a day or an instant; null when it is unknown. */
  publishedAt: string | null
}

export const NewsItem = z.object({
  title: z.string(),
  snippet: z.string(),
  url: z.string(),
  source: z.string().nullable(),
  publishedAt: z.string().nullable(),
  dimension: z.enum(DIMENSIONS),
  provider: z.string(),
})
export type NewsItem = z.infer<typeof NewsItem>

/**
 * Whether it is evidence for the listing. Results for the industry may be about a competitor: they are background, and
 * nothing about the listing follows from them.
 */
export const isAboutListing = ({ dimension }: Pick<NewsItem, 'dimension'>): boolean => dimension !== 'industry'

/** Posts about a listing outside of the news. */
export const SocialSentiment = z.object({
  text: z.string(),
  /** −1 to 1. */
  score: z.number().nullable(),
  mentions: z.number().nullable(),
  provider: z.string(),
})
export type SocialSentiment = z.infer<typeof SocialSentiment>

const MAX_TITLE = 200
const MAX_SNIPPET = 500
const MAX_SOURCE = 80
const MAX_URL = 500

export type RawHit = {
  title?: string | null | undefined
  snippet?: string | null | undefined
  url?: string | null | undefined
  source?: string | null | undefined
  date?: string | null | undefined
}

/** A result without markup and control characters, cut to its maximum length; null without a title or a web address. */
export function hitOf({ title, snippet, url, source }: RawHit): Omit<Hit, 'publishedAt'> | null {
  const name = plain(title ?? '', MAX_TITLE)
  const address = webAddress(url ?? '')
  if (name === '' || address === null) return null
  const host = new URL(address).hostname.replace(/^www\./, '')
  return {
    title: name,
    snippet: plain(snippet ?? '', MAX_SNIPPET),
    url: address,
    source: plain(source ?? '', MAX_SOURCE) || host,
  }
}

function webAddress(url: string): string | null {
  if (url.length > MAX_URL || !URL.canParse(url)) return null
  const { protocol, username, password, href } = new URL(url)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '' ? href : null
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', '#39': "'" }

/** Plain text: no tags, no entities, no invisible characters and none that change the text direction. */
export function plain(text: string, limit: number): string {
  const bare = text
    .slice(0, 20_000)
    .replace(/<(script|style)\b[^>]*>[\s\S]*?<\/\1\s*>/gi, ' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/&(#?\w{1,6});/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return bare.length > limit ? `${bare.slice(0, limit - 1)}…` : bare
}
