// The entries of reflogs, in the order of a log.

import type { Arguments } from './arguments.ts'
import { type DateStyle, parseMoment, showDate } from './dates.ts'
import { fatal } from './failure.ts'
import type { Visited } from './history.ts'
import type { Invocation } from './invocation.ts'
import { NULL_ID } from './objects.ts'
import type { ReflogEntry } from './refs.ts'
import type { Repository } from './repository.ts'
import { fullRefName, revision, unknownRevision } from './revisions.ts'

/** The display of an entry next to its commit. */
export interface ShownEntry {
  /** `refs/heads/main@{0}` if the log is named in full. */
  selector: string
  /** `main@{0}` */
  shortSelector: string
  name: string
  email: string
  message: string
}

export type Walked = Visited & { entry: ShownEntry; seconds: number }

interface Log {
  /** The displayed name. */
  name: string
  entries: ReflogEntry[]
  /** The first entry. */
  from: number
  isByDate: boolean
}

const REFUSED = ['graph', 'follow', 'L', 'reverse', 'left-right', 'left-only', 'right-only', 'no-walk', 'topo-order']

/** The newest first, of all given logs. Entries with missing commits are left out. */
export async function walkReflogs(
  git: Invocation,
  { options, words, date }: { options: Arguments; words: readonly string[]; date: DateStyle | null },
): Promise<Walked[]> {
  const repo = git.repo()
  const refused = REFUSED.find((name) => options.has(name))
  if (refused !== undefined) throw fatal(`--walk-reflogs with --${refused} is not available here`)
  const logs = await logsOf(repo, options, words)
  const found: Walked[] = []
  for (const log of logs) {
    for (let at = log.from; at < log.entries.length; at++) {
      const walked = await walkedEntry(repo, { log, at, date })
      if (walked) found.push(walked)
    }
  }
  // Several logs are merged by date; entries of the same second keep their order.
  return logs.length > 1 ? found.sort((a, b) => b.seconds - a.seconds) : found
}

async function logsOf(repo: Repository, options: Arguments, words: readonly string[]): Promise<Log[]> {
  const logs: Log[] = []
  for (const word of words) logs.push(await logNamed(repo, word))
  const named = ['branches', 'tags', 'remotes', 'glob'].find((name) =>
    options.all(name).some((pattern) => pattern !== ''),
  )
  if (named !== undefined) throw fatal(`--walk-reflogs with --${named}=<pattern> is not available here`)
  const prefixes = ['all', 'branches', 'tags', 'remotes'].filter((name) => options.has(name))
  for (const name of prefixes) {
    const prefix = name === 'all' ? 'refs/' : name === 'branches' ? 'refs/heads/' : `refs/${name}/`
    for (const ref of (await repo.refs.list(prefix)).keys()) logs.push(await logOf(repo, ref, ref))
  }
  if (options.has('all')) logs.push(await logOf(repo, 'HEAD', 'HEAD'))
  return logs.length > 0 ? logs : [await logNamed(repo, 'HEAD')]
}

async function logOf(repo: Repository, ref: string, name: string): Promise<Log> {
  return { name, entries: await repo.refs.log(ref), from: 0, isByDate: false }
}

async function logNamed(repo: Repository, word: string): Promise<Log> {
  const [, given = word, inside = null] = /^(.*)@\{([^-].*)\}$/.exec(word) ?? []
  const current = (await repo.refs.head()).ref ?? 'HEAD'
  const asked = given === '' ? current : given === '@' ? 'HEAD' : given
  const ref = asked === 'HEAD' ? 'HEAD' : await fullRefName(repo, asked)
  if (ref === null || (await repo.refs.resolve(ref)) === null) {
    // A commit that is not a ref has no log, which is not an error.
    if ((await revision(repo, word)) === null) throw unknownRevision(word)
    return { name: word, entries: [], from: 0, isByDate: false }
  }
  // A branch has the name from the request; a ref found by another rule has its full name.
  const name = ['HEAD', `refs/${asked}`, `refs/heads/${asked}`].includes(ref) ? asked : ref
  const log = await logOf(repo, ref, name === current && given === '' ? current.replace(/^refs\/heads\//, '') : name)
  if (inside === null) return log
  if (/^\d+$/.test(inside)) return { ...log, from: Number(inside) }
  const moment = parseMoment(inside)
  const from = log.entries.findIndex(({ by }) => whenOf(by).seconds <= moment)
  return { ...log, from: from < 0 ? log.entries.length : from, isByDate: true }
}

function whenOf(by: string): { seconds: number; zone: string } {
  const [, seconds = '0', zone = '+0000'] = /(\d+) ([+-]\d{4})$/.exec(by) ?? []
  return { seconds: Number(seconds), zone }
}

async function walkedEntry(
  repo: Repository,
  { log, at, date }: { log: Log; at: number; date: DateStyle | null },
): Promise<Walked | null> {
  const entry = log.entries[at]
  if (!entry || entry.after === NULL_ID || !(await repo.objects.has(entry.after))) return null
  if ((await repo.objects.read(entry.after)).type !== 'commit') return null
  const when = whenOf(entry.by)
  const place = date !== null || log.isByDate ? showDate(when, date ?? 'default') : String(at)
  const [, name = '', email = ''] = /^(.*) <(.*?)> /.exec(entry.by) ?? []
  const short = log.name.replace(/^refs\/(heads|remotes|tags)\//, '').replace(/^refs\//, '')
  return {
    oid: entry.after,
    commit: await repo.commit(entry.after),
    seconds: when.seconds,
    entry: {
      selector: `${log.name}@{${place}}`,
      shortSelector: `${short}@{${place}}`,
      name,
      email,
      message: entry.message,
    },
  }
}
