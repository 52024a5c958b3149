// A strategy level is a text for people, `1480.00元（MA10附近）`; a line in the chart needs the number in it.

import type { Level } from '../charts/layout.ts'
import type { Strategy } from '../wire.ts'

type NamedLevel = { name: string; text: string; kind: Level['kind'] }

const NAMES: [keyof Strategy, string, Level['kind']][] = [
  ['ideal_buy', 'Ideal buy', 'buy'],
  ['secondary_buy', 'Second buy', 'buy'],
  ['stop_loss', 'Stop loss', 'stop'],
  ['take_profit', 'Take profit', 'target'],
]

export const namedLevels = (strategy: Strategy): NamedLevel[] =>
  NAMES.flatMap(([key, name, kind]) => {
    const text = strategy[key]
    return text === null || text === '' ? [] : [{ name, text, kind }]
  })

export const chartLevels = (strategy: Strategy | null): Level[] =>
  (strategy === null ? [] : namedLevels(strategy)).flatMap(({ name, text, kind }) => {
    const price = levelPrice(text)
    return price === null ? [] : [{ label: name, price, kind }]
  })

/** The price that a level names: the last number before any remark in brackets that is not the length of an average. */
export function levelPrice(text: string): number | null {
  const [said = ''] = text.split(/[(（]/)
  const numbers = said.replaceAll(/MA\s*\d+/gi, '').match(/\d[\d,]*(?:\.\d+)?/g)
  const value = Number(numbers?.at(-1)?.replaceAll(',', ''))
  return Number.isFinite(value) && value > 0 ? value : null
}
