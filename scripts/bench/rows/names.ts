// P18: what somebody typed made into a listing, against a walk over the whole list. Both sides run in this process.

import { type Listing, packagedNames } from '../../../src/kits/market-names/index.ts'
import { nameTable } from '../../../src/kits/market-names/name-table.ts'
import { packagedTable, packedTerms, unpacked } from '../../../src/kits/market-names/packaged.ts'
import { resolveInput } from '../../../src/market/resolve.ts'
import type { Measurement, Sample } from '../rounds.ts'

/** Codes in several spellings, names in three scripts, pinyin, an alias, four digits, and letters that stay a ticker. */
const TYPED = [
  '600519',
  'sh600519',
  '00700',
  '0700.HK',
  'AAPL',
  '7203.T',
  '9984',
  '贵州茅台',
  '貴州茅臺',
  '茅台',
  'gzmt',
  'guizhoumaotai',
  'maotai',
  '宁德时代',
  'payh',
  'Kweichow Moutai',
]
const SLICE_MS = 500

export async function nameResolving(): Promise<Measurement[]> {
  const names = await packagedNames()
  const listings = names.all()
  const resolve = (text: string): boolean => resolveInput(text, names)?.ok === true
  const walk = (text: string): boolean => walked(listings, text)
  const missed = TYPED.filter((text) => !resolve(text))
  if (missed.length > 0) throw new Error(`nothing was found for ${missed.join(', ')}`)
  const size = `among ${listings.length} listings`
  const { rows, terms } = await packed()
  return [
    {
      row: 'P18',
      what: `name, pinyin or code resolved ${size}, lookups`,
      unit: '/s',
      ours: async () => throughput(resolve),
      baseline: async () => throughput(walk),
    },
    {
      row: 'P18',
      what: `name, pinyin or code resolved ${size}, p99`,
      unit: 'ms',
      isErratic: true,
      ours: async () => slowest(resolve),
      baseline: async () => slowest(walk),
    },
    {
      row: 'P18',
      what: 'the index loaded, against one made anew from the list',
      unit: 'ms',
      ours: async () => duration(() => void unpacked(rows, terms)),
      baseline: async () => duration(() => void nameTable(listings)),
    },
  ]
}

async function packed() {
  const { table } = await packagedTable()
  const { ROWS } = await import('../../../src/kits/market-names/packaged.generated.ts')
  return { rows: ROWS, terms: packedTerms(table) }
}

/** What a program without an index would do: every listing looked at, in every spelling of its names. */
function walked(listings: readonly Listing[], typed: string): boolean {
  const text = typed.toLowerCase().replaceAll(/[.\s]|^(sh|sz|hk)(?=\d)|(?<=\d)\.?(hk|sh|sz)$/g, '')
  let found = false
  for (const { key, zh, en, pinyin, aliases } of listings) {
    const spellings = [key, zh, en, pinyin.replaceAll(' ', ''), initials(pinyin), ...aliases]
    if (spellings.some((spelling) => spelling.toLowerCase() === text)) found = true
  }
  return found
}

const initials = (pinyin: string): string =>
  pinyin
    .split(' ')
    .map((syllable) => syllable.charAt(0))
    .join('')

const sample = (value: number): Sample => ({ value, clientCpu: null, serverMicros: null, waited: null })

function throughput(resolve: (text: string) => boolean): Sample {
  const startedAt = performance.now()
  let count = 0
  while (performance.now() - startedAt < SLICE_MS) {
    for (const text of TYPED) resolve(text)
    count += TYPED.length
  }
  return sample((count * 1000) / (performance.now() - startedAt))
}

const TIMES = 60

function slowest(resolve: (text: string) => boolean): Sample {
  const times: number[] = []
  for (let i = 0; i < TIMES; i++) {
    for (const text of TYPED) {
      const startedAt = performance.now()
      resolve(text)
      times.push(performance.now() - startedAt)
    }
  }
  times.sort((a, b) => a - b)
  return sample(times[Math.floor(times.length * 0.99)] ?? 0)
}

const LOADS = 5

function duration(load: () => void): Sample {
  const startedAt = performance.now()
  for (let i = 0; i < LOADS; i++) load()
  return sample((performance.now() - startedAt) / LOADS)
}
