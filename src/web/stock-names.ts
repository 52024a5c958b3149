import { useEffect, useState } from 'preact/hooks'
import { readStocks } from './api.ts'
import { language } from './texts.ts'

/** The maximum of one request. */
const MOST = 200

/** The names of listings in the user's language, by code; a listing that is in no list has none. */
export function useStockNames(codes: readonly string[]): ReadonlyMap<string, string> {
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map())
  const asked = [...new Set(codes)].slice(0, MOST).join('\n')
  useEffect(() => {
    if (asked === '') return
    readStocks({ entries: asked.split('\n'), language }).then(
      ({ items }) => setNames(new Map(items.map(({ input, stock_name: name }) => [input, name ?? '']))),
      // Without names, the codes are shown.
      () => undefined,
    )
  }, [asked])
  return names
}
