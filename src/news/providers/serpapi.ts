import { z } from 'zod'
import { requestJson, UpstreamError } from '../../lib/http-client.ts'
import { ageWord, checkedReply, hitsOf, type SearchOptions, type SearchProvider } from '../search-provider.ts'

const text = z.string().nullish()
const Row = z.object({ title: text, link: text, snippet: text, date: text, source: z.unknown() })
const Reply = z.object({ organic_results: z.array(Row).nullish(), news_results: z.array(Row).nullish(), error: text })

export function serpapi({ url, key, clock, fetch }: SearchOptions): SearchProvider {
  const name = 'serpapi'
  return {
    name,
    async search({ text: query, days, count, language, isNews }, signal) {
      const params = new URLSearchParams({
        engine: 'google',
        q: query,
        api_key: key,
        tbs: `qdr:${ageWord(days, { day: 'd', week: 'w', month: 'm', year: 'y' })}`,
        num: String(count),
        hl: language === 'zh' ? 'zh-cn' : 'en',
        gl: language === 'zh' ? 'cn' : 'us',
        ...(isNews ? { tbm: 'nws' } : {}),
      })
      const options = { service: name, retries: 1, signal, ...(fetch && { fetch }) }
      const reply = checkedReply(name, Reply, await requestJson(`${url}/search.json?${params}`, options))
      const rows = [...(reply.news_results ?? []), ...(reply.organic_results ?? [])]
      // The service uses `error` both for "no results" and for an exhausted account.
      if (rows.length === 0 && reply.error && !/hasn't returned any results/i.test(reply.error)) {
        throw new UpstreamError({ service: name, reason: 'refused', detail: 'an error in place of results' })
      }
      return hitsOf(
        rows.map(({ title, link, snippet, date, source }) => {
          return { title, snippet, date, url: link, source: typeof source === 'string' ? source : null }
        }),
        clock(),
      )
    },
  }
}
