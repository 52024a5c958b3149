// The parts of a stored market review that are shown as cards and tiles next to its text.

import { isObject, RED_RISES } from './stored-parts.ts'

export type Index = {
  code: string
  name: string
  current: number
  change: number
  changePct: number
  amount: number | null
}
export type Tile = { name: string; changePct: number }
export type Light = { label: string; score: number; status: string; reasons: string[]; guidance: string }

export type Review = {
  title: string
  scope: string
  isRedUp: boolean
  notice: string | null
  light: Light | null
  indices: Index[]
  tiles: { kind: 'sectors' | 'concepts'; tiles: Tile[] }[]
}

type Json = Record<string, unknown>

const objectOf = (value: unknown): Json => (isObject(value) ? value : {})
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const number = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null)
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Every market of the review; with several markets, each is stored under its name. */
export function reviewsIn(details: Json | null): Review[] {
  const payload = objectOf(objectOf(details?.context_snapshot).market_review_payload)
  const markets = objectOf(payload.markets)
  const parts = Object.values(markets).filter(isObject)
  return (parts.length > 0 ? parts : [payload]).flatMap((part) => reviewIn(part))
}

function reviewIn(part: Json): Review[] {
  const indices = list(part.indices).flatMap(indexIn)
  const tiles = (['sectors', 'concepts'] as const).flatMap((kind) => {
    const board = objectOf(part[kind])
    const found = [...list(board.top), ...list(board.bottom)].flatMap(tileIn)
    return found.length === 0 ? [] : [{ kind, tiles: found }]
  })
  const light = lightIn(objectOf(part.market_light))
  if (indices.length === 0 && tiles.length === 0 && light === null) return []
  return [
    {
      title: text(part.title),
      scope: text(part.market_scope),
      isRedUp: part.color_scheme === 'red_up' || RED_RISES.has(text(part.region)),
      notice: text(part.data_notice) || null,
      light,
      indices,
      tiles,
    },
  ]
}

function indexIn(row: Json): Index[] {
  const [current, changePct] = [number(row.current), number(row.change_pct)]
  if (current === null || changePct === null) return []
  return [
    {
      code: text(row.code),
      name: text(row.name),
      current,
      changePct,
      change: number(row.change) ?? 0,
      amount: number(row.amount),
    },
  ]
}

function tileIn(row: Json): Tile[] {
  const changePct = number(row.change_pct)
  return changePct === null || text(row.name) === '' ? [] : [{ name: text(row.name), changePct }]
}

function lightIn(light: Json): Light | null {
  const score = number(light.score)
  if (score === null) return null
  const reasons = Array.isArray(light.reasons) ? light.reasons.map(text).filter((reason) => reason !== '') : []
  return { label: text(light.label), score, status: text(light.status), reasons, guidance: text(light.guidance) }
}

export const direction = (change: number): string => (change === 0 ? 'flat' : change > 0 ? 'up' : 'down')

/** From this change on, in percent, a tile has its full color. */
const FULL = 4

/** The style sheet has five steps of each color. */
export const heat = (changePct: number): string =>
  changePct === 0
    ? 'flat'
    : `${direction(changePct)}-${Math.max(1, Math.min(5, Math.ceil((Math.abs(changePct) / FULL) * 5)))}`
