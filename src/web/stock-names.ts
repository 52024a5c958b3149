import { useEffect, useState } from 'preact/hooks'
import { readStocks } from './api.ts'
import { language } from './texts.ts'

/** As many as the service reads at once. */
const MOST = 200

/** The names of listings in the reader's language, by their codes; one that no list knows has none. */
export function useStockNames(codes: readonly string[]): ReadonlyMap<string, string> {
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map())
  const asked = [...new Set(codes)].slice(0, MOST).join('\n')
  useEffect(() => {
    if (asked === '') return
    readStocks({ entries: asked.split('\n'), language }).then(
      ({ items }) => setNames(new Map(items.map(({ input, stock_name: name }) => [input, name ?? '']))),
      // The codes tell the same.
      () => undefined,
    )
  }, [asked])
  return names
}
