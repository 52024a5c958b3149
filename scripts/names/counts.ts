// How many listings the packaged list has, and from where: the table of docs/market-data.md, which a test compares with it.
// `node scripts/names/counts.ts` prints it.

import { packagedNames } from '../../src/kits/market-names/index.ts'
import { instrumentOf } from '../../src/market/names/labels.ts'

/** Where the names of each place come from, as `scripts/derive-names.mjs` puts them together. */
const ORIGINS: Record<string, { title: string; source: string; date: string }> = {
  SH: { title: 'Shanghai', source: '`hqchart` 1.1.15808; funds and indices by hand', date: '2023-08-25' },
  SZ: { title: 'Shenzhen', source: '`hqchart` 1.1.15808; funds and indices by hand', date: '2023-08-25' },
  BJ: { title: 'Beijing', source: 'by hand', date: '–' },
  HK: { title: 'Hong Kong', source: 'by hand', date: '–' },
  US: { title: 'New York', source: 'by hand', date: '–' },
  T: { title: 'Tokyo', source: 'by hand, with Japanese names', date: '–' },
  KS: { title: 'Seoul, KOSPI', source: 'by hand, with Korean names', date: '–' },
  KQ: { title: 'Seoul, KOSDAQ', source: 'by hand, with Korean names', date: '–' },
  TW: { title: 'Taipei', source: 'by hand', date: '–' },
  TWO: { title: 'Taipei, over the counter', source: 'by hand', date: '–' },
}

/** The lines of the table. */
export async function countsTable(): Promise<string> {
  const counts = new Map(Object.keys(ORIGINS).map((place) => [place, { stock: 0, etf: 0, index: 0 }]))
  for (const listing of (await packagedNames()).all()) {
    const { exchange, kind } = instrumentOf(listing)
    const count = counts.get(exchange)
    if (count === undefined) throw new Error(`${listing.key}: no row for ${exchange}`)
    count[kind] += 1
  }
  const rows = [...counts].map(([place, { stock, etf, index }]) => {
    const { title = place, source = '', date = '' } = ORIGINS[place] ?? {}
    return `| ${title} | ${stock} | ${etf} | ${index} | ${source} | ${date} |`
  })
  return ['| place | stocks | funds | indices | from | as of |', '| --- | --- | --- | --- | --- | --- |', ...rows].join(
    '\n',
  )
}

if (process.argv[1] === import.meta.filename) process.stdout.write(`${await countsTable()}\n`)
