import type { NewsItem } from './article.ts'

/** What earlier searches found. */
export interface NewsPool {
  put(key: string, items: readonly NewsItem[], now: number): Promise<void>
  /** Published since then, the newest first; undated ones by when they were found. */
  since(key: string, epochMs: number): Promise<NewsItem[]>
}
