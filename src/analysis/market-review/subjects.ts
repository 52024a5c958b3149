// The possible subjects of a sentence about a market's day: an index, a board, the number of stocks that rose; with
// their names and figures.

import type { RegionFacts } from './facts.ts'
import { REGION_SPECS } from './regions.ts'

export type Measure = 'last' | 'change' | 'changePct' | 'open' | 'high' | 'low' | 'amplitude' | 'amount' | 'mainNet'

export type Subject = {
  readonly kind: 'index' | 'board'
  readonly name: string
  readonly values: Readonly<Partial<Record<Measure, number | null>>>
  /** Its position in its ranking; null for an index. */
  readonly ends: { readonly isTop: boolean; readonly isBottom: boolean } | null
}

export type Named = { readonly at: number; readonly end: number; readonly subject: Subject }

/** Common names of an index besides its own, by its key. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  SH000001: ['上证综指', '沪指', '上证', 'Shanghai Composite', '상하이종합지수'],
  SZ399001: ['深成指', '深证', 'Shenzhen Component', '선전성분지수'],
  SZ399006: ['创业板', '차이넥스트지수'],
  HSI: ['恒指', '恒生', 'Hang Seng', '항셍'],
  HSTECH: ['恒生科技指数', '恒科', '항셍테크지수'],
  SPX: ['标普', 'S&P', 'S＆P 500'],
  IXIC: ['纳指', 'Nasdaq', '나스닥지수', '나스닥종합'],
  DJI: ['道指', 'Dow Jones Industrial Average', 'the Dow', '다우'],
  N225: ['日经指数', '日经', 'Nikkei', '닛케이'],
  KS11: ['코스피지수', '韩国KOSPI'],
  KQ11: ['코스닥지수'],
}

type Name = { readonly text: string; readonly subject: Subject }

/** Every name of every subject, the longest first. */
export function namesOf({ indices, overnight, boards, region }: RegionFacts): Name[] {
  const specs = Object.values(REGION_SPECS).flatMap((spec) => [...spec.indices, ...spec.overnight])
  const { top, bottom } = boards?.industries ?? { top: [], bottom: [] }
  const concepts = boards?.concepts ?? { top: [], bottom: [] }
  const own = new Set(REGION_SPECS[region].indices.map(({ key }) => key))
  const ofIndex = [...indices, ...overnight.filter(({ key }) => !own.has(key))].flatMap((fact): Name[] => {
    const { name, key, code, current, change, changePct, open, high, low, amplitude, amount } = fact
    const values = { last: current, change, changePct, open, high, low, amplitude, amount }
    const subject: Subject = { kind: 'index', name, ends: null, values }
    const spec = specs.find((one) => one.key === key)
    const called = [name, key, code, ...(spec ? [spec.zh, spec.en, spec.ko] : []), ...(ALSO[key] ?? [])]
    return called.map((text) => ({ text, subject }))
  })
  const ofBoard = [...top, ...bottom, ...concepts.top, ...concepts.bottom].map((board): Name => {
    const { name, changePct, mainNet } = board
    const isIn = (end: readonly { name: string }[]) => end.some((one) => one.name === name)
    const ends = { isTop: isIn([...top, ...concepts.top]), isBottom: isIn([...bottom, ...concepts.bottom]) }
    return { text: name, subject: { kind: 'board', name, ends, values: { changePct, mainNet } } }
  })
  return [...ofIndex, ...ofBoard].filter(({ text }) => text !== '').sort((a, b) => b.text.length - a.text.length)
}

/** Every position in a text where a subject is named, in order. */
export function namedIn(text: string, names: readonly Name[]): Named[] {
  const found: Named[] = []
  const lower = text.toLowerCase()
  for (const { text: name, subject } of names) {
    const wanted = name.normalize('NFKC').toLowerCase()
    for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + 1)) {
      const end = at + wanted.length
      const isWord = !/[a-z0-9]/.test(`${lower[at - 1] ?? ' '}`) && !/[a-z0-9]/.test(lower[end] ?? ' ')
      const isInWord = /^[a-z0-9&. ]+$/.test(wanted) && !isWord
      if (!isInWord && !found.some((other) => at < other.end && other.at < end)) found.push({ at, end, subject })
    }
  }
  return found.sort((a, b) => a.at - b.at)
}
