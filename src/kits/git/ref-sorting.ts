// The order of branches and tags in lists.

import type { Arguments } from './arguments.ts'
import { byteOrder } from './bytes.ts'
import { fatal } from './failure.ts'
import type { Invocation } from './invocation.ts'
import { parseTag } from './objects.ts'
import type { Repository } from './repository.ts'

/** From the command line, otherwise from the setting. */
export async function sortKeys(git: Invocation, options: Arguments, setting: string): Promise<string[]> {
  const own = await git.setting(setting)
  const keys = options.has('sort') || own === null ? options.all('sort') : [own]
  const suffix = keys.some((key) => VERSIONS.has(key.replace(/^-/, '')))
    ? await git.setting('versionsort.suffix')
    : null
  if (suffix !== null) throw fatal('the setting versionsort.suffix is not available here')
  return keys
}

type Row = { ref: string; oid: string }
type Order = (a: string, b: string) => number

/** Sorts by git's keys, with `-` at the start for descending order; the last given key has the highest priority. */
export async function sortRefs<T extends Row>(repo: Repository, rows: T[], keys: readonly string[]): Promise<T[]> {
  for (const given of keys) {
    const [, minus, key = ''] = /^(-?)(.*)$/.exec(given) ?? []
    const order = orderBy(key)
    const values = new Map<T, string>()
    for (const row of rows) values.set(row, await sortValue(repo, row, key))
    const sign = minus === '-' ? -1 : 1
    rows.sort((a, b) => sign * order(values.get(a) ?? '', values.get(b) ?? ''))
  }
  return rows
}

const DATES: ReadonlySet<string> = new Set(['committerdate', 'authordate', 'creatordate', 'taggerdate'])
const VERSIONS: ReadonlySet<string> = new Set(['version:refname', 'v:refname'])

function orderBy(key: string): Order {
  if (DATES.has(key)) return (a, b) => Number(a) - Number(b)
  if (VERSIONS.has(key)) return byVersion
  if (key === 'refname' || key === 'refname:short') return byteOrder
  throw fatal(`sorting by '${key}' is not available here`)
}

async function sortValue(repo: Repository, { ref, oid }: Row, key: string): Promise<string> {
  if (!DATES.has(key)) return ref
  const { type, bytes } = await repo.objects.read(oid)
  const tagger = type === 'tag' ? parseTag(bytes).tagger : null
  if (key === 'taggerdate') return String(tagger?.seconds ?? 0)
  if (key === 'creatordate' && tagger) return String(tagger.seconds)
  // A tag has its own date, but not the dates of its target.
  if (key !== 'creatordate' && type === 'tag') return '0'
  if (type !== 'tag' && type !== 'commit') return '0'
  const commit = await repo.commit(await repo.peel(oid, 'commit'))
  return String((key === 'authordate' ? commit.author : commit.committer).seconds)
}

/** Numbers within names are compared as numbers. */
function byVersion(a: string, b: string): number {
  const [left, right] = [a.match(/\d+|\D+/g) ?? [], b.match(/\d+|\D+/g) ?? []]
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [x = '', y = ''] = [left[i], right[i]]
    const order = /^\d/.test(x) && /^\d/.test(y) ? Number(x) - Number(y) : byteOrder(x, y)
    if (order !== 0) return order
  }
  return 0
}
