import type { Dimension } from '../news/article.ts'
import type { NewsFound } from '../news/search.ts'
import { labelsOf } from './labels.ts'
import type { ReportLanguage } from './report.ts'

/** The news as one text, subject by subject; null when there are none, never a filler in their place. */
export function newsContent(news: NewsFound | null, language: ReportLanguage): string | null {
  if (news === null || (news.items.length === 0 && news.social === null)) return null
  const { newsDimension } = labelsOf(language)
  const parts = (Object.keys(newsDimension) as Dimension[]).flatMap((dimension) => {
    const items = news.items.filter((item) => item.dimension === dimension)
    if (items.length === 0) return []
    const lines = items.map(({ title, source, publishedAt, snippet }, i) => {
      const origin = [source, publishedAt?.slice(0, 10)].filter(Boolean).join(', ')
      return `${i + 1}. ${title}${origin === '' ? '' : ` (${origin})`}${snippet === '' ? '' : `\n   ${snippet}`}`
    })
    return [`【${newsDimension[dimension]}】\n${lines.join('\n')}`]
  })
  return [...parts, ...(news.social === null ? [] : [news.social.text])].join('\n\n')
}
