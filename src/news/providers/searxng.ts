import { z } from 'zod'
import { requestJson } from '../../lib/http-client.ts'
import { ageWord, checkedReply, hitsOf, type SearchOptions, type SearchProvider } from '../search-provider.ts'

const text = z.string().nullish()
const Reply = z.object({
  results: z.array(z.object({ title: text, url: text, content: text, publishedDate: text, engine: text })),
})

/** A self-hosted instance: it needs no key, but its JSON format must be enabled. */
export function searxng({ url, clock, fetch }: Omit<SearchOptions, 'key'>): SearchProvider {
  const name = 'searxng'
  return {
    name,
    async search({ text: query, days, count, language, isNews }, signal) {
      const params = new URLSearchParams({
        q: query,
        format: 'json',
        language: language === 'zh' ? 'zh-CN' : 'en',
        categories: isNews ? 'news' : 'general',
        time_range: ageWord(days, { day: 'day', week: 'week', month: 'month', year: 'year' }),
      })
      const options = { service: name, retries: 1, signal, ...(fetch && { fetch }) }
      const { results } = checkedReply(name, Reply, await requestJson(`${url}/search?${params}`, options))
      return hitsOf(
        results.slice(0, count).map((row) => ({ ...row, snippet: row.content, date: row.publishedDate })),
        clock(),
      )
    },
  }
}
