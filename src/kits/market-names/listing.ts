// The names of a listing, and its one-line form in the packaged list.

export type ListingKind = 'stock' | 'etf' | 'index'

export type Listing = {
  /** The canonical form of its code: `600519`, `HK00700`, `AAPL`. */
  readonly key: string
  /** The name in simplified characters, or as written by the exchange if it has no translation. */
  readonly zh: string
  /** Empty if there is no common one. */
  readonly en: string
  /** The syllables of the Chinese name with blanks between them, lower case; empty without one. */
  readonly pinyin: string
  readonly aliases: readonly string[]
  /**
   * The listing that a shared name refers to: the mainland share of a company whose H share has the same name. Null for
   * a listing that is itself the main one, which is nearly every listing.
   */
  readonly leading: string | null
  readonly kind: ListingKind
  /** False if it is no longer traded. */
  readonly active: boolean
  /** 0 to 100: among equals, the listing that is searched more often comes first. */
  readonly popularity: number
}

const KINDS: Record<string, ListingKind> = { e: 'etf', i: 'index' }

export function parseRow(line: string, popularity: number): Listing {
  const [key = '', zh = '', en = '', pinyin = '', aliases = '', leading = '', kind = ''] = line.split('\t')
  return {
    key,
    zh,
    en,
    pinyin,
    aliases: aliases === '' ? NONE : aliases.split(','),
    leading: leading === '' ? null : leading,
    kind: KINDS[kind] ?? 'stock',
    active: true,
    popularity,
  }
}

const NONE: readonly string[] = []

/** The line that `parseRow` reads. */
export function formatRow({ key, zh, en, pinyin, aliases, leading, kind }: Listing): string {
  const letter = Object.keys(KINDS).find((name) => KINDS[name] === kind) ?? ''
  return [key, zh, en, pinyin, aliases.join(','), leading ?? '', letter].join('\t').trimEnd()
}

/** The pinyin without the blanks between its syllables. */
export function joinedPinyin({ pinyin }: Pick<Listing, 'pinyin'>): string {
  return pinyin.replaceAll(' ', '')
}

// A part without a vowel is not a syllable: `st`, `tcl`, `300`.
const WHOLE = /^[^aeiouv]+$/

/** The first letter of each syllable; numbers and abbreviations are kept whole: `hs300`, `stgh`. */
export function initialsOf({ pinyin }: Pick<Listing, 'pinyin'>): string {
  let initials = ''
  for (const syllable of pinyin.split(' ')) initials += WHOLE.test(syllable) ? syllable : syllable.slice(0, 1)
  return initials
}
