// The current names of mainland stocks at the providers, compared with the known ones. A list is accepted as a whole or
// not at all: one that is too short, or that renames or ends too many at once, has lost a page or moved a column.

import { fold, type Listing, spellerFrom } from '../../kits/market-names/index.ts'
import { type Clock, isoMicros } from '../../lib/clock.ts'
import { log } from '../../lib/log.ts'
import { parseCode } from '../instruments.ts'

export type ListedName = { code: string; name: string }
export type NameSource = { name: string; list: () => Promise<ListedName[]> }

export interface RefreshStore {
  /** The known mainland stocks and funds, including ended ones. */
  known(): Promise<Listing[]>
  save(changed: readonly Listing[], told: { source: string; at: string }): Promise<void>
}

export type Refreshed =
  | { ok: true; source: string; added: number; renamed: number; ended: number; resumed: number }
  | { ok: false; reasons: string[] }

const LEAST_LISTED = 4_000
const MOST_BAD_CODES = 0.005
const MOST_RENAMED = 0.3
const MOST_ENDED = 0.1
const MOST_FORMER_NAMES = 5
const NEW_POPULARITY = 20

/** Requests the sources in order until one returns an acceptable list, and stores its changes. */
export async function refreshNames(
  store: RefreshStore,
  sources: readonly NameSource[],
  clock: Clock,
): Promise<Refreshed> {
  const known = await store.known()
  const reasons: string[] = []
  for (const source of sources) {
    const compared = await compare(source, known)
    if (!compared.ok) {
      log.warn('names.list_refused', { source: source.name, reason: compared.reason })
      reasons.push(`${source.name}: ${compared.reason}`)
      continue
    }
    const { added, renamed, ended, resumed } = compared
    await store.save([...added, ...renamed, ...ended, ...resumed], { source: source.name, at: isoMicros(clock()) })
    const counts = { added: added.length, renamed: renamed.length, ended: ended.length, resumed: resumed.length }
    log.info('names.refreshed', { source: source.name, ...counts })
    return { ok: true, source: source.name, ...counts }
  }
  return { ok: false, reasons }
}

type Compared =
  | { ok: true; added: Listing[]; renamed: Listing[]; ended: Listing[]; resumed: Listing[] }
  | { ok: false; reason: string }

async function compare(source: NameSource, known: readonly Listing[]): Promise<Compared> {
  let listed: ListedName[]
  try {
    listed = await source.list()
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : 'failed' }
  }
  const names = namesByKey(listed)
  if (names.size < LEAST_LISTED) return { ok: false, reason: `only ${names.size} stocks` }
  if (listed.length - names.size > listed.length * MOST_BAD_CODES) return { ok: false, reason: 'too many faulty lines' }
  const changes = changesOf(known, names)
  const traded = known.filter(({ kind, active }) => kind === 'stock' && active).length
  if (changes.renamed.length > traded * MOST_RENAMED) return { ok: false, reason: `${changes.renamed.length} renamed` }
  if (changes.ended.length > traded * MOST_ENDED) return { ok: false, reason: `${changes.ended.length} ended` }
  return { ok: true, ...changes }
}

function namesByKey(listed: readonly ListedName[]): Map<string, string> {
  const names = new Map<string, string>()
  for (const { code, name } of listed) {
    const parsed = /^\d{6}$/.test(code) ? parseCode(code) : null
    const clean = cleanName(name)
    if (parsed?.ok && parsed.instrument.kind === 'stock' && clean !== '') names.set(parsed.instrument.key, clean)
  }
  return names
}

// Exchanges put these before a name for a day, and shorten the name to make room.
const EX_DAY = /^(?:XD|XR|DR)(?=\p{Script=Han})/u
const FIRST_DAYS = /^[NC](?=\p{Script=Han})/u
const LONGEST_NAME = 20

/** Without the blanks that align names in print; full-width letters become ASCII. */
function cleanName(name: string): string {
  const plain = name.normalize('NFKC').replace(/\s+/g, '').replace(FIRST_DAYS, '')
  return plain.length <= LONGEST_NAME && !/[\p{C}<>"'`]/u.test(plain) ? plain : ''
}

function changesOf(known: readonly Listing[], names: ReadonlyMap<string, string>) {
  const byKey = new Map(known.map((listing) => [listing.key, listing]))
  const taken = new Set(names.values())
  const spell = spellerFrom(known)
  const changes = { added: [] as Listing[], renamed: [] as Listing[], ended: [] as Listing[], resumed: [] as Listing[] }
  for (const [key, name] of names) {
    const before = byKey.get(key)
    if (before === undefined) {
      const zh = name.replace(EX_DAY, '')
      changes.added.push({ ...NEW, key, zh, pinyin: spell(zh) })
    } else if (!EX_DAY.test(name) && fold(name) !== fold(before.zh)) {
      changes.renamed.push({
        ...before,
        zh: name,
        pinyin: spell(name),
        aliases: withFormerName(before, taken),
        active: true,
      })
    } else if (!before.active) changes.resumed.push({ ...before, active: true })
  }
  for (const listing of known) {
    if (listing.kind === 'stock' && listing.active && !names.has(listing.key))
      changes.ended.push({ ...listing, active: false })
  }
  return changes
}

const NEW: Omit<Listing, 'key' | 'zh' | 'pinyin'> = {
  en: '',
  aliases: [],
  leading: null,
  kind: 'stock',
  active: true,
  popularity: NEW_POPULARITY,
}

/** The former name still finds the listing, unless another one has it now. */
function withFormerName({ zh, aliases }: Listing, taken: ReadonlySet<string>): string[] {
  const former = taken.has(zh) || aliases.includes(zh) ? [] : [zh]
  const kept = aliases.filter((alias) => !taken.has(alias))
  return [...kept, ...former].slice(-Math.max(MOST_FORMER_NAMES, kept.length))
}
