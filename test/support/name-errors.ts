// One typing error: a character left out, doubled, in its neighbour's place, or another that lies beside it on the keyboard; in
// Chinese one that sounds the same, in Korean and Japanese another of the same script.

import { joinedPinyin, type Listing } from '../../src/kits/market-names/index.ts'

export type Random = (below: number) => number

/** Whole numbers below what is asked for, the same for the same seed (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below) >>> 0
  }
}

export const pick = <T>(random: Random, some: readonly T[]): T => {
  const one = some[random(some.length)]
  if (one === undefined) throw new RangeError('nothing to pick from')
  return one
}

/** Its full names: Chinese, English, and every alias. */
export const namesOf = ({ zh, en, aliases }: Listing): string[] => [...new Set([zh, en, ...aliases])].filter(Boolean)

const KINDS = ['left out', 'swapped', 'doubled', 'beside'] as const
type Kind = (typeof KINDS)[number]

const KEY_ROWS = ['1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm']

function besideOnKeyboard(character: string, random: Random): string {
  const lower = character.toLowerCase()
  const row = KEY_ROWS.findIndex((keys) => keys.includes(lower))
  if (row < 0) return character
  const at = KEY_ROWS[row]?.indexOf(lower) ?? 0
  const places = [
    [row, at - 1],
    [row, at + 1],
    [row - 1, at],
    [row + 1, at],
  ] as const
  const neighbours = places.flatMap(([r, i]) => ((r === 0) === (row === 0) ? (KEY_ROWS[r]?.[i] ?? []) : []))
  const other = pick(random, neighbours)
  return lower === character ? other : other.toUpperCase()
}

type Homophones = (character: string) => string[]

/** For each Chinese character of the lists those that are read the same in them. */
function homophonesIn(listings: readonly Listing[]): Homophones {
  const readings = new Map<string, Set<string>>()
  const sounds = new Map<string, string>()
  for (const { zh, pinyin } of listings) {
    const characters = zh.match(/[\u3400-\u9fff]|[A-Za-z0-9]+/g) ?? []
    const syllables = pinyin.split(' ')
    if (characters.length !== syllables.length) continue
    for (const [i, character] of characters.entries()) {
      const sound = syllables[i] ?? ''
      if (!/[\u3400-\u9fff]/.test(character)) continue
      readings.set(sound, (readings.get(sound) ?? new Set()).add(character))
      sounds.set(character, sound)
    }
  }
  return (character) => [...(readings.get(sounds.get(character) ?? '') ?? [])].filter((one) => one !== character)
}

const SCRIPTS: { pattern: RegExp; first: number; count: number }[] = [
  { pattern: /[\uac00-\ud7a3]/, first: 0xac00, count: 11_172 },
  { pattern: /[\u30a1-\u30fa]/, first: 0x30a2, count: 0x50 },
]

function another(character: string, random: Random, homophones: Homophones): string {
  const same = homophones(character)
  if (same.length > 0) return pick(random, same)
  const script = SCRIPTS.find(({ pattern }) => pattern.test(character))
  if (script !== undefined) return String.fromCharCode(script.first + random(script.count))
  return besideOnKeyboard(character, random)
}

function withError(text: string, kind: Kind, change: { at: number; other: (character: string) => string }): string {
  const characters = [...text]
  const { at, other } = change
  const one = characters[at] ?? ''
  if (kind === 'left out') characters.splice(at, 1)
  else if (kind === 'doubled') characters.splice(at, 0, one)
  else if (kind === 'swapped') characters.splice(at, 2, characters[at + 1] ?? '', one)
  else characters[at] = other(one)
  return characters.join('')
}

export type Misspelled = { listing: Listing; name: string; typed: string; kind: Kind }

/** Names, aliases and pinyin of listings, each with one error that changes it. */
export function nameErrors(listings: readonly Listing[], random: Random, count: number): Misspelled[] {
  const homophones = homophonesIn(listings)
  const traded = listings.filter(({ active }) => active)
  const errors: Misspelled[] = []
  while (errors.length < count) {
    const listing = pick(random, traded)
    const pinyin = joinedPinyin(listing)
    const name = pick(random, [listing.zh, listing.zh, ...namesOf(listing), ...(pinyin.length > 5 ? [pinyin] : [])])
    const kind = pick(random, KINDS)
    const at = random([...name].length - (kind === 'swapped' ? 1 : 0))
    const typed = withError(name, kind, { at, other: (character) => another(character, random, homophones) }).trim()
    if (name.length > 2 && typed !== name && typed !== '') errors.push({ listing, name, typed, kind })
  }
  return errors
}

/** Codes with one error that changes them. */
export function codeErrors(listings: readonly Listing[], random: Random, count: number): Misspelled[] {
  const traded = listings.filter(({ active }) => active)
  const errors: Misspelled[] = []
  while (errors.length < count) {
    const listing = pick(random, traded)
    const name = listing.key
    const kind = pick(random, KINDS)
    const at = random(name.length - (kind === 'swapped' ? 1 : 0))
    const typed = withError(name, kind, { at, other: (character) => besideOnKeyboard(character, random) })
    if (typed !== name && typed !== '') errors.push({ listing, name, typed, kind })
  }
  return errors
}
