// Resolves names of commits: branches, tags, abbreviated ids, `HEAD~2`, `main^`, `origin/main`, `@{u}`, `a..b`,
// `main:path`.

import { resolvePath } from '../../workspace/paths.ts'
import { momentIn, showDate } from './dates.ts'
import { fatal, GitFailure } from './failure.ts'
import { mergeBases, walkHistory } from './history.ts'
import { NULL_ID, parseTree } from './objects.ts'
import { compilePattern } from './patterns.ts'
import type { Repository } from './repository.ts'

const MIN_ABBREVIATION = 4

/** The prefixes tried for a short name, in order. */
const REF_RULES = ['', 'refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/']

/** The full name of an existing ref, or null. */
export async function fullRefName(repo: Repository, name: string): Promise<string | null> {
  for (const prefix of REF_RULES) {
    const full = prefix + name
    if (prefix === '' && !/^(HEAD|[A-Z_]*_HEAD|refs\/.*)$/.test(full)) continue
    if ((await repo.refs.resolve(full)) !== null) return full
  }
  return (await repo.refs.resolve(`refs/remotes/${name}/HEAD`)) === null ? null : `refs/remotes/${name}/HEAD`
}

/** The shortest name of the ref: one without another meaning, or, if not strict, one that is tried first. */
export async function shortRefName(repo: Repository, ref: string, { isStrict = true } = {}): Promise<string> {
  const rules = [...REF_RULES, 'refs/remotes/']
  for (let i = REF_RULES.length - 1; i > 0; i--) {
    const [own = '', short] = [rules[i], ref.slice(rules[i]?.length)]
    if (!ref.startsWith(own) || short === '') continue
    const others = isStrict
      ? rules.map((rule, k) => (k < REF_RULES.length ? rule + short : `${rule}${short}/HEAD`))
      : rules.slice(0, i).map((rule) => rule + short)
    let isFree = true
    for (const other of others) if (other !== ref && (await isRef(repo, other))) isFree = false
    if (isFree) return short
  }
  return ref
}

const isRef = async (repo: Repository, name: string): Promise<boolean> =>
  /^(HEAD|[A-Z_]*_HEAD|refs\/.*)$/.test(name) && (await repo.refs.resolve(name)) !== null

/** The id of the words, or null. It may be a commit, a tag, a tree or a blob. */
export async function revision(repo: Repository, words: string): Promise<string | null> {
  if (words.startsWith(':/')) return matching(repo, [...(await repo.refs.list('refs/')).values()], words.slice(2))
  const colon = words.replace(/\^\{[^}]*\}/g, (part) => '_'.repeat(part.length)).indexOf(':')
  if (colon >= 0 && !words.startsWith(':/')) return atPath(repo, words.slice(0, colon), words.slice(colon + 1))
  const split = /^(.*?)((?:[~^].*)?)$/s.exec(words)
  const [name = '', steps = ''] = split?.slice(1) ?? []
  let oid = await named(repo, name === '@' ? 'HEAD' : name)
  const found = [...steps.matchAll(/~\d*|\^\{[^}]*\}|\^\d*/g)].map(([step]) => step)
  if (found.join('') !== steps) return null
  for (const step of found) {
    if (oid === null) return null
    oid = await stepped(repo, oid, step)
  }
  return oid
}

/** The youngest commit whose message contains the pattern. */
async function matching(repo: Repository, oids: readonly string[], text: string): Promise<string | null> {
  const pattern = compilePattern(text, { notation: 'extended', flags: 'm' })
  const include: string[] = []
  for (const oid of oids)
    if (['commit', 'tag'].includes((await repo.objects.read(oid)).type)) include.push(await repo.peel(oid, 'commit'))
  for await (const { oid, commit } of walkHistory(repo, { include })) if (pattern.test(commit.message)) return oid
  return null
}

/** The commit of the words; fails like git. */
export async function commitId(repo: Repository, words: string): Promise<string> {
  const oid = await revision(repo, words)
  if (oid === null) throw unknownRevision(words)
  return repo.peel(oid, 'commit')
}

export function unknownRevision(words: string): GitFailure {
  const [, name, path] = /^([^:]+):(.+)$/s.exec(words) ?? []
  if (path !== undefined) return new GitFailure(`fatal: path '${path}' does not exist in '${name}'`, 128)
  return new GitFailure(
    `fatal: ambiguous argument '${words}': unknown revision or path not in the working tree.\n` +
      "Use '--' to separate paths from revisions, like this:\n" +
      "'git <command> [<revision>...] -- [<file>...]'",
    128,
  )
}

/** The commits to include and to exclude, from words such as `a..b`, `a...b`, `^a` and `b`. */
export async function range(repo: Repository, words: string): Promise<Starts> {
  const shorthand = await parentShorthand(repo, words)
  if (shorthand) {
    const parents = shorthand.parents.map(({ oid }) => oid)
    return shorthand.isOut ? { include: [shorthand.commit], exclude: parents } : { include: parents, exclude: [] }
  }
  if (words.startsWith('^')) {
    const { include, exclude } = await range(repo, words.slice(1))
    return { include: exclude, exclude: include }
  }
  const dots = /^(.*?)(\.{2,3})(.*)$/.exec(words)
  if (!dots) return { include: [await commitId(repo, words)], exclude: [] }
  const from = await commitId(repo, dots[1] || 'HEAD')
  const to = await commitId(repo, dots[3] || 'HEAD')
  if (dots[2] === '..') return { include: [to], exclude: [from] }
  return { include: [from, to], exclude: await mergeBases(repo, from, to) }
}

interface ParentShorthand {
  commit: string
  name: string
  parents: { oid: string; number: number }[]
  /** Whether the parents are excluded, and the commit itself is not. */
  isOut: boolean
}

/** `a^@`: its parents; `a^!` and `a^-2`: the commit without its parents, or without the second. Null for other words. */
export async function parentShorthand(repo: Repository, words: string): Promise<ParentShorthand | null> {
  const [, name = '', kind = '', digits = ''] = /^(.*)\^(@|!|-(\d*))$/s.exec(words) ?? []
  const oid = kind === '' ? null : await revision(repo, name)
  if (oid === null) return null
  const commit = await repo.peel(oid, 'commit')
  const all = (await repo.commit(commit)).parents.map((parent, i) => ({ oid: parent, number: i + 1 }))
  if (!kind.startsWith('-')) return { commit, name, parents: all, isOut: kind === '!' }
  const wanted = digits === '' ? 1 : Number(digits)
  const parents = all.filter(({ number }) => number === wanted)
  return parents.length === 0 ? null : { commit, name, parents, isOut: true }
}

type Starts = { include: string[]; exclude: string[] }

/** Several words together. */
export async function ranges(
  repo: Repository,
  words: readonly string[],
  check: (word: string) => Promise<void> = async () => {},
): Promise<Starts> {
  const starts: Starts = { include: [], exclude: [] }
  for (const word of words) {
    await check(word)
    const { include, exclude } = await range(repo, word)
    starts.include.push(...include)
    starts.exclude.push(...exclude)
  }
  return starts
}

/** Like `ranges`, but a word that is not a range must name an object. */
export function rangesOrCommits(repo: Repository, words: readonly string[]): Promise<Starts> {
  return ranges(repo, words, async (word) => {
    if (!isRange(word) && (await revision(repo, word)) === null) throw fatal(`bad revision '${word}'`)
  })
}

export const isRange = (word: string): boolean => word.includes('..') || word.startsWith('^')

/** The start commit: any named one, and for `a...b` the only merge base. Null for none. */
export async function startPoint(repo: Repository, words: string): Promise<string | null> {
  const [, left, right] = /^([^:]*?)\.\.\.([^:]*)$/.exec(words) ?? []
  if (left === undefined || right === undefined) {
    const oid = await revision(repo, words)
    return oid === null ? null : repo.peel(oid, 'commit')
  }
  const ends = [await revision(repo, left || 'HEAD'), await revision(repo, right || 'HEAD')]
  const [a, b] = await Promise.all(ends.map((oid) => (oid === null ? null : repo.peel(oid, 'commit'))))
  if (!a || !b) return null
  const [base, ...others] = await mergeBases(repo, a, b)
  return others.length === 0 ? (base ?? null) : null
}

async function named(repo: Repository, name: string): Promise<string | null> {
  const braces = /^(.*)@\{(.*)\}$/.exec(name)
  if (braces) return inBraces(repo, braces[1] ?? '', braces[2] ?? '')
  const ref = await fullRefName(repo, name)
  if (ref !== null) return repo.refs.resolve(ref)
  if (/^[0-9a-f]{40}$/i.test(name)) return (await repo.objects.has(name.toLowerCase())) ? name.toLowerCase() : null
  if (!/^[0-9a-f]+$/i.test(name) || name.length < MIN_ABBREVIATION) return described(repo, name)
  return abbreviated(repo, name.toLowerCase())
}

async function abbreviated(repo: Repository, prefix: string): Promise<string | null> {
  const found = await repo.objects.idsStartingWith(prefix)
  if (found.length <= 1) return found[0] ?? null
  const commits: string[] = []
  for (const oid of found) if ((await repo.objects.read(oid)).type === 'commit') commits.push(oid)
  if (commits.length === 1) return commits[0] ?? null
  throw new GitFailure(`error: short object ID ${prefix} is ambiguous\nfatal: ambiguous argument '${prefix}'`, 128)
}

/** In the form of `git describe`: `v1.2-3-gabcdef`. */
async function described(repo: Repository, name: string): Promise<string | null> {
  const id = /^.+-\d+-g([0-9a-f]{4,40})$/.exec(name)?.[1]
  return id === undefined ? null : abbreviated(repo, id)
}

async function inBraces(repo: Repository, name: string, inside: string): Promise<string | null> {
  const branch =
    name === '' || name === 'HEAD' ? ((await repo.refs.head()).ref?.replace('refs/heads/', '') ?? '') : name
  if (/^(u|upstream|push)$/i.test(inside)) {
    const upstream = await upstreamOf(repo, branch)
    if (!upstream) throw new GitFailure(`fatal: no upstream configured for branch '${branch}'`, 128)
    return repo.refs.resolve(upstream.ref)
  }
  const log = async (ref: string) => repo.refs.log(ref)
  if (/^\d+$/.test(inside)) {
    const ref = name === '' || name === 'HEAD' ? 'HEAD' : await fullRefName(repo, name)
    const entries = ref === null ? [] : await log(ref)
    const at = Number(inside)
    if (at >= entries.length && ref !== null && (at > entries.length || entries.length === 0))
      throw tooFar(repo, { name: name || branch, count: entries.length })
    return at < entries.length ? (entries[at]?.after ?? null) : (entries[at - 1]?.before ?? null)
  }
  if (!/^-\d+$/.test(inside)) return atMoment(repo, { name, branch, inside })
  if (name !== '') return null
  const previous = await previousBranch(repo, `@{${inside}}`)
  return previous === null ? null : named(repo, previous)
}

function tooFar(repo: Repository, { name, count }: { name: string; count: number }): GitFailure {
  const isDetached = name === '' && !repo.isBare
  return new GitFailure(`fatal: log for '${isDetached ? 'HEAD' : name}' only has ${count} entries`, 128)
}

/** The value of the ref at a time; for a time before its log, the oldest known value. */
async function atMoment(
  repo: Repository,
  { name, branch, inside }: { name: string; branch: string; inside: string },
): Promise<string | null> {
  const words = name === 'HEAD' ? 'HEAD' : name || branch || 'HEAD'
  const ref = words === 'HEAD' ? 'HEAD' : await fullRefName(repo, words)
  if (ref === null) return null
  const moment = momentIn(inside)
  if (moment === null) return null
  const entries = await repo.refs.log(ref)
  const then = entries.find(({ by }) => secondsOf(by) <= moment)
  const oldest = entries.at(-1)
  if (then || !oldest) return then?.after ?? repo.refs.resolve(ref)
  const [, seconds = '0', zone = '+0000'] = /(\d+) ([+-]\d{4})$/.exec(oldest.by) ?? []
  repo.warn(`warning: log for '${words}' only goes back to ${showDate({ seconds: Number(seconds), zone }, 'rfc')}`)
  return oldest.before === NULL_ID ? oldest.after : oldest.before
}

const secondsOf = (by: string): number => Number(/(\d+) [+-]\d{4}$/.exec(by)?.[1] ?? 0)

/** The previously checked out branches, the latest first. */
export async function leftBranches(repo: Repository): Promise<string[]> {
  const log = await repo.refs.log('HEAD')
  return log.flatMap(({ message }) => /^checkout: moving from (\S+) to \S+$/.exec(message)?.[1] ?? [])
}

/** The branch or commit of `-` or `@{-2}`; null for other words. */
export async function previousBranch(repo: Repository, words: string): Promise<string | null> {
  const back = words === '-' ? '1' : /^@\{-(\d+)\}$/.exec(words)?.[1]
  return back === undefined ? null : ((await leftBranches(repo))[Number(back) - 1] ?? null)
}

export interface Upstream {
  remote: string
  /** The branch's full name at the remote. */
  branch: string
  /** The local ref with its last known state. */
  ref: string
}

export async function upstreamOf(repo: Repository, branch: string): Promise<Upstream | null> {
  const config = await repo.config()
  const [remote, merge] = [config.get(`branch.${branch}.remote`), config.get(`branch.${branch}.merge`)]
  if (!remote || !merge) return null
  const ref = remote === '.' ? merge : merge.replace(/^refs\/heads\//, `refs/remotes/${remote}/`)
  return { remote, branch: merge, ref }
}

async function stepped(repo: Repository, oid: string, step: string): Promise<string | null> {
  const kind = /^\^\{(.*)\}$/.exec(step)?.[1]
  if (kind?.startsWith('/')) return matching(repo, [await repo.peel(oid, 'commit')], kind.slice(1))
  if (kind !== undefined)
    return kind === 'tree' ? repo.peel(oid, 'tree') : kind === '' || kind === 'commit' ? repo.peel(oid, 'commit') : null
  let commit = await repo.peel(oid, 'commit')
  const count = step.length > 1 ? Number(step.slice(1)) : 1
  if (step.startsWith('^')) return count === 0 ? commit : ((await repo.commit(commit)).parents[count - 1] ?? null)
  for (let i = 0; i < count; i++) {
    const parent = (await repo.commit(commit)).parents[0]
    if (parent === undefined) return null
    commit = parent
  }
  return commit
}

async function atPath(repo: Repository, words: string, given: string): Promise<string | null> {
  const path = /^\.{1,2}(\/|$)/.test(given) ? resolvePath(`/${repo.folder}`, given).slice(1) : given
  if (words === '') {
    const [, stage = '0', name = path] = /^([0-3]):(.*)$/s.exec(path) ?? []
    return (await repo.index()).get(name, Number(stage))?.oid ?? null
  }
  const start = await revision(repo, words)
  if (start === null) return null
  let at = await repo.peel(start, 'tree')
  for (const name of path.split('/').filter((part) => part !== '' && part !== '.')) {
    const { type, bytes } = await repo.objects.read(at)
    const entry = type === 'tree' ? parseTree(bytes).find((other) => other.name === name) : undefined
    if (!entry) return null
    at = entry.oid
  }
  return at
}

/** The shortest unique prefix of the id; at least as long as requested, or as in the repository's settings. */
export async function abbreviate(repo: Repository, oid: string, wanted?: number): Promise<string> {
  const length = Math.max(4, wanted ?? repo.shownIdLength ?? (await repo.objects.usualIdLength()))
  const others = (await repo.objects.idsStartingWith(oid.slice(0, length))).filter((other) => other !== oid)
  let needed = length
  for (const other of others) {
    let same = 0
    while (same < 40 && other[same] === oid[same]) same++
    needed = Math.max(needed, same + 1)
  }
  return oid.slice(0, needed)
}
