// Fetches objects from a remote. A received pack is parsed, checked and stored before any ref names its objects, so
// that no ref ever points to a missing object.

import { joinBytes } from '../../lib/bytes.ts'
import type { Advertisement } from './advertisement.ts'
import { textOf } from './bytes.ts'
import { fatal, GitFailure } from './failure.ts'
import { walkHistory } from './history.ts'
import { LocalTransport } from './local-transport.ts'
import { parseTag } from './objects.ts'
import { indexPack } from './pack-indexer.ts'
import { brokenOff, FLUSH, packetLine, packetsOf } from './packet-lines.ts'
import { MAX_TAGS_FOLLOWED, type Repository } from './repository.ts'
import type { Transport } from './transport.ts'

const MAX_UNPACKED_BYTES = 512 * 1024 * 1024
/**
 * The maximum of known commits that are named to the remote. If the histories part further back, some objects are sent
 * again.
 */
const MAX_HAVES = 512
const AGENT = 'agent=git/2.40-bellwether'
/** All commits. */
export const EVERYTHING = 0x7fffffff

export type Remote = Transport | LocalTransport

export interface PackWish {
  wants: readonly string[]
  /** The depth of the history for each wanted object; null for all of it, or for what exists locally. */
  depth: number | null
  /** Whether tags of sent objects may be included. */
  includesTags: boolean
  onMessage?: ((text: string) => void) | undefined
}

/** Fetches wanted objects that are missing, and stores where the history is cut off. */
export async function fetchPack(
  { repo, transport, advertisement }: { repo: Repository; transport: Remote; advertisement: Advertisement },
  wish: PackWish,
): Promise<void> {
  const missing = await areMissing(repo, wish.wants)
  if (wish.wants.length === 0 || (!missing && wish.depth === null)) return
  if (transport instanceof LocalTransport) return transport.bring(repo, wish.wants, wish.depth)
  const body = await requestFor(repo, advertisement, wish)
  const { pack, cut, grown } = await transport.exchange('git-upload-pack', body, (answer) => received(answer, wish))
  if (pack.byteLength > 0) await storePack(repo, pack, transport.limits.maxObjects)
  if (cut.length === 0 && grown.length === 0) return
  const shallow = new Set([...(await repo.shallow()), ...cut])
  for (const oid of grown) shallow.delete(oid)
  await repo.saveShallow(shallow)
}

async function areMissing(repo: Repository, oids: readonly string[]): Promise<boolean> {
  for (const oid of oids) if (!(await repo.objects.has(oid))) return true
  return false
}

async function requestFor(repo: Repository, { capabilities }: Advertisement, wish: PackWish): Promise<Uint8Array> {
  if (!capabilities.has('side-band-64k')) throw fatal('the remote does not speak the protocol of our time')
  const shallow = await repo.shallow()
  if ((wish.depth !== null || shallow.size > 0) && !capabilities.has('shallow'))
    throw fatal('the remote does not support shallow clones')
  const wanted = ['multi_ack_detailed', 'side-band-64k', 'ofs-delta']
  if (wish.includesTags) wanted.push('include-tag')
  if (!wish.onMessage) wanted.push('no-progress')
  const used = wanted.filter((name) => capabilities.has(name))
  if ([...capabilities].some((name) => name.startsWith('agent='))) used.push(AGENT)
  const wants = [...new Set(wish.wants)].map((oid, i) => `want ${oid}${i === 0 ? ` ${used.join(' ')}` : ''}\n`)
  const lines = [...wants, ...[...shallow].map((oid) => `shallow ${oid}\n`)]
  if (wish.depth !== null) lines.push(`deepen ${wish.depth}\n`)
  const haves = (await knownCommits(repo)).map((oid) => `have ${oid}\n`)
  return joinBytes([...lines.map(packetLine), FLUSH, ...haves.map(packetLine), packetLine('done\n')])
}

/** The commits of all refs, and the youngest of their ancestors. */
async function knownCommits(repo: Repository): Promise<string[]> {
  const tips = new Set<string>()
  for (const oid of new Set((await repo.refs.list('refs/')).values())) {
    const commit = await commitBehind(repo, oid)
    if (commit !== null && tips.size < MAX_HAVES) tips.add(commit)
  }
  const { oid: head } = await repo.refs.head()
  if (head !== null && (await repo.objects.has(head))) tips.add(head)
  const known = new Set(tips)
  for await (const { oid } of walkHistory(repo, { include: [...tips] })) {
    if (known.size >= MAX_HAVES) break
    known.add(oid)
  }
  return [...known]
}

/** Null for a missing object, and for tags of other kinds of objects. */
async function commitBehind(repo: Repository, oid: string): Promise<string | null> {
  let at = oid
  for (let hops = 0; hops < MAX_TAGS_FOLLOWED; hops++) {
    const object = await repo.objects.find(at)
    if (object?.type === 'commit') return at
    if (object?.type !== 'tag') return null
    at = parseTag(object.bytes).object
  }
  return null
}

interface Received {
  pack: Uint8Array
  /** Commits whose parents are not sent, and those whose parents are sent. */
  cut: string[]
  grown: string[]
}

async function received(answer: AsyncIterable<Uint8Array>, { onMessage }: PackWish): Promise<Received> {
  const [parts, cut, grown]: [Uint8Array[], string[], string[]] = [[], [], []]
  let isWhole = false
  for await (const line of packetsOf(answer)) {
    const band = line?.[0]
    isWhole = line === null
    if (line === null) continue
    if (band === 1) parts.push(line.subarray(1))
    else if (band === 2) onMessage?.(textOf(line.subarray(1)))
    else if (band === 3) throw new GitFailure(`fatal: remote error: ${textOf(line.subarray(1)).trim()}`, 128)
    else noteLine(textOf(line).trim(), { cut, grown })
  }
  if (!isWhole) throw brokenOff()
  return { pack: joinBytes(parts), cut, grown }
}

function noteLine(text: string, { cut, grown }: Pick<Received, 'cut' | 'grown'>): void {
  const [word = '', oid = ''] = text.split(' ')
  if (word === 'ERR') throw fatal(`remote error: ${text.slice(4)}`)
  if (word === 'shallow') cut.push(oid)
  else if (word === 'unshallow') grown.push(oid)
  else if (word !== 'ACK' && word !== 'NAK') throw fatal('the answer of the remote is not understood')
}

async function storePack(repo: Repository, pack: Uint8Array, maxObjects: number): Promise<void> {
  const limits = { maxObjects, maxUnpackedBytes: MAX_UNPACKED_BYTES }
  const stored = (oid: string) => repo.objects.find(oid)
  const { index, checksum, objects } = await indexPack(pack, { limits, pace: repo.pace, stored })
  if (objects === 0) return
  const name = `${repo.gitDir}/objects/pack/pack-${checksum}`
  repo.fs.makeDirectory(`${repo.gitDir}/objects/pack`, { recursive: true })
  await repo.fs.write(`${name}.pack`, pack, { mode: 0o444 })
  await repo.fs.write(`${name}.idx`, index, { mode: 0o444 })
}

/** Fails for a commit whose history was not fetched. */
export async function assertComplete(repo: Repository, oid: string): Promise<void> {
  if (!(await repo.objects.has(oid))) throw fatal('remote did not send all necessary objects')
}
