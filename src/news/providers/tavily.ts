import { z } from 'zod'
import { requestJson } from '../../lib/http-client.ts'
import { checkedReply, hitsOf, type SearchOptions, type SearchProvider } from '../search-provider.ts'

const text = z.string().nullish()
const Reply = z.object({
  results: z.array(z.object({ title: text, url: text, content: text, published_date: text })),
})

export function tavily({ url, key, clock, fetch }: SearchOptions): SearchProvider {
  const name = 'tavily'
  return {
    name,
    async search({ text: query, days, count, isNews }, signal) {
      // Only the news topic has dates.
      const topic = isNews ? { topic: 'news', days } : { topic: 'general', time_range: days <= 31 ? 'month' : 'year' }
      const body = JSON.stringify({ query, search_depth: 'basic', max_results: Math.min(20, count), ...topic })
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const options = { service: name, method: 'POST', headers, body, signal, ...(fetch && { fetch }) }
      const { results } = checkedReply(name, Reply, await requestJson(`${url}/search`, options))
      return hitsOf(
        results.map((row) => ({ ...row, snippet: row.content, date: row.published_date })),
        clock(),
      )
    },
  }
}
