// How the service reads what stands in the form. It is asked when typing pauses, and once more before anything is submitted, so
// that no entry is sent which was not read.

import { useEffect, useRef, useState } from 'preact/hooks'
import { readStocks } from '../api.ts'
import type { StockReading } from '../wire.ts'

const PAUSE_MS = 300

/** What was chosen for an unclear entry: a code, or nothing to leave the entry out. */
export type Choices = ReadonlyMap<string, string | null>

type Known = { asked: string; items: StockReading[] }

export type Readings = {
  items: StockReading[]
  choices: Choices
  choose: (input: string, code: string | null) => void
  /** The readings of what stands there now. */
  ask: () => Promise<StockReading[]>
}

/** The readings of the entries, in the language; empty until typing pauses. */
export function useReadings(entries: string[], language: string): Readings {
  const [known, setKnown] = useState<Known>({ asked: '', items: [] })
  const [choices, setChoices] = useState<Choices>(new Map())
  const asked = JSON.stringify([language, entries])
  const newest = useRef(asked)
  newest.current = asked
  const ask = async (): Promise<StockReading[]> => {
    if (known.asked === asked) return known.items
    const { items } = await readStocks({ entries, ...(language === '' ? {} : { language }) })
    // An answer to what has been changed meanwhile is shown to nobody.
    if (newest.current === asked) setKnown({ asked, items })
    return items
  }
  useEffect(() => {
    if (entries.length === 0) return
    // What cannot be read now is read, or fails audibly, when it is submitted.
    const timer = setTimeout(() => void ask().catch(() => {}), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [asked])
  const choose = (input: string, code: string | null) => setChoices(new Map(choices).set(input, code))
  return { items: entries.length > 0 && known.asked === asked ? known.items : [], choices, choose, ask }
}

/** Whether the entry is sent only after an answer. A ticker that no list knows goes as it is, unless another is chosen. */
export const isOpen = ({ input, kind }: StockReading, choices: Choices): boolean =>
  kind === 'unknown' || (kind === 'candidates' && !choices.has(input))

/** The code to send, or null for an entry that is left out. */
export function codeOf({ input, stock_code }: StockReading, choices: Choices): string | null {
  const chosen = choices.get(input)
  return chosen === undefined ? stock_code : chosen
}
