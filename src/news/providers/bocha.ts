import { z } from 'zod'
import { requestJson, UpstreamError } from '../../lib/http-client.ts'
import { ageWord, checkedReply, hitsOf, type SearchOptions, type SearchProvider } from '../search-provider.ts'

const text = z.string().nullish()
const Row = z.object({ name: text, url: text, snippet: text, summary: text, siteName: text, datePublished: text })
const Reply = z.object({
  code: z.union([z.number(), z.string()]).nullish(),
  data: z.object({ webPages: z.object({ value: z.array(Row).nullish() }).nullish() }).nullish(),
})

export function bocha({ url, key, clock, fetch }: SearchOptions): SearchProvider {
  const name = 'bocha'
  return {
    name,
    async search({ text: query, days, count }, signal) {
      const freshness = ageWord(days, { day: 'oneDay', week: 'oneWeek', month: 'oneMonth', year: 'oneYear' })
      const body = JSON.stringify({ query, freshness, summary: true, count: Math.min(50, count) })
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const options = { service: name, method: 'POST', headers, body, signal, ...(fetch && { fetch }) }
      const { code, data } = checkedReply(name, Reply, await requestJson(`${url}/v1/web-search`, options))
      if (Number(code) !== 200) {
        throw new UpstreamError({ service: name, reason: 'refused', detail: `code ${String(code).slice(0, 20)}` })
      }
      return hitsOf(
        (data?.webPages?.value ?? []).map((row) => ({
          title: row.name,
          url: row.url,
          snippet: row.summary || row.snippet,
          source: row.siteName,
          date: row.datePublished,
        })),
        clock(),
      )
    },
  }
}
