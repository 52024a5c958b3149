import { z } from 'zod'
import { requestJson } from '../../lib/http-client.ts'
import { ageWord, checkedReply, hitsOf, type SearchOptions, type SearchProvider } from '../search-provider.ts'

const text = z.string().nullish()
const Row = z.object({
  title: text,
  url: text,
  description: text,
  age: text,
  page_age: text,
  meta_url: z.object({ hostname: text }).nullish(),
})
// The news index has its rows at the top level, the web index below `web`; without results either is absent.
const Reply = z.object({
  results: z.array(Row).nullish(),
  web: z.object({ results: z.array(Row).nullish() }).nullish(),
  type: text,
})

export function brave({ url, key, clock, fetch }: SearchOptions): SearchProvider {
  const name = 'brave'
  return {
    name,
    async search({ text: query, days, count, language, isNews }, signal) {
      const params = new URLSearchParams({
        q: query,
        count: String(Math.min(20, count)),
        freshness: ageWord(days, { day: 'pd', week: 'pw', month: 'pm', year: 'py' }),
        search_lang: language === 'zh' ? 'zh-hans' : 'en',
      })
      const headers = { 'x-subscription-token': key, accept: 'application/json' }
      const address = `${url}/res/v1/${isNews ? 'news' : 'web'}/search?${params}`
      const options = { service: name, headers, retries: 1, signal, ...(fetch && { fetch }) }
      const reply = checkedReply(name, Reply, await requestJson(address, options))
      const rows = reply.results ?? reply.web?.results ?? []
      return hitsOf(
        rows.map((row) => ({
          ...row,
          snippet: row.description,
          date: row.page_age ?? row.age,
          source: row.meta_url?.hostname,
        })),
        clock(),
      )
    },
  }
}
