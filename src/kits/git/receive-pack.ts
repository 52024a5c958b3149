// Updates refs of a remote, and sends the objects they need.

import { joinBytes } from '../../lib/bytes.ts'
import type { Advertisement } from './advertisement.ts'
import { textOf } from './bytes.ts'
import { fatal, GitFailure } from './failure.ts'
import { isAncestor } from './history.ts'
import { LocalTransport } from './local-transport.ts'
import { NULL_ID, type Signature } from './objects.ts'
import { objectsBetween, packOf } from './pack-writer.ts'
import { FLUSH, packetLine, packetsOf } from './packet-lines.ts'
import type { Repository } from './repository.ts'
import type { Transport } from './transport.ts'

const AGENT = 'agent=git/2.40-bellwether'

export interface RefUpdate {
  /** The local name; null for a deletion. */
  source: string | null
  /** The full name at the remote. */
  remoteRef: string
  /** Null deletes it. */
  oid: string | null
  force: boolean
  /** The required current value of the remote's ref; null for none, undefined for any. */
  expected?: string | null
}

export type Verdict = { kind: 'accepted' | 'unchanged' } | { kind: 'rejected' | 'remote-rejected'; reason: string }

export interface Judged {
  update: RefUpdate
  /** The previous value of the remote's ref; null if there was none. */
  before: string | null
  verdict: Verdict
}

export interface PushSession {
  repo: Repository
  transport: Transport | LocalTransport
  by: Signature
  advertisement: Advertisement
  /** Called with messages of the remote. */
  onMessage: (text: string) => void
  isDry: boolean
}

/** Sends the updates that git's rules allow; each update has its own result, in the given order. */
export async function pushRefs(session: PushSession, updates: readonly RefUpdate[]): Promise<Judged[]> {
  const judged: Judged[] = []
  for (const update of updates) {
    const before = session.advertisement.refs.get(update.remoteRef) ?? null
    judged.push({ update, before, verdict: await judge(session, update, before) })
  }
  const accepted = judged.filter(({ verdict }) => verdict.kind === 'accepted')
  if (accepted.length === 0 || session.isDry) return judged
  const replies = await send(session, accepted)
  for (const item of accepted) item.verdict = replies.get(item.update.remoteRef) ?? unanswered
  return judged
}

const unanswered: Verdict = { kind: 'remote-rejected', reason: 'remote failed to report status' }

async function judge({ repo, advertisement }: PushSession, update: RefUpdate, before: string | null): Promise<Verdict> {
  const { oid, force, expected, remoteRef } = update
  if (oid === before) return { kind: 'unchanged' }
  if (oid === null && !advertisement.capabilities.has('delete-refs'))
    return { kind: 'rejected', reason: 'remote does not support deleting refs' }
  if (expected !== undefined)
    return before === expected ? { kind: 'accepted' } : { kind: 'rejected', reason: 'stale info' }
  if (oid === null || before === null || force) return { kind: 'accepted' }
  if (remoteRef.startsWith('refs/tags/')) return { kind: 'rejected', reason: 'already exists' }
  const there = await repo.objects.find(before)
  if (there === null) return { kind: 'rejected', reason: 'fetch first' }
  const isForward = there.type === 'commit' && (await isAncestor(repo, before, oid))
  return isForward ? { kind: 'accepted' } : { kind: 'rejected', reason: 'non-fast-forward' }
}

async function send(session: PushSession, accepted: readonly Judged[]): Promise<Map<string, Verdict>> {
  const { repo, transport, advertisement, onMessage, by } = session
  if (transport instanceof LocalTransport) {
    const updates = accepted.map(({ update: { oid, remoteRef: ref }, before }) => ({ ref, before, oid }))
    const reasons = await transport.receive(repo, updates, { by, onMessage })
    const verdict = (reason: string | null): Verdict =>
      reason === null ? { kind: 'accepted' } : { kind: 'remote-rejected', reason }
    return new Map([...reasons].map(([ref, reason]) => [ref, verdict(reason)]))
  }
  const body = await requestFor(repo, advertisement, accepted)
  return transport.exchange('git-receive-pack', body, async (answer) => {
    const report: Uint8Array[] = []
    for await (const line of packetsOf(answer)) {
      if (line?.[0] === 1) report.push(line.subarray(1))
      else if (line?.[0] === 2) onMessage(textOf(line.subarray(1)))
      else if (line?.[0] === 3) throw new GitFailure(`fatal: remote error: ${textOf(line.subarray(1)).trim()}`, 128)
    }
    return verdictsOf(report)
  })
}

async function requestFor(
  repo: Repository,
  { refs, capabilities }: Advertisement,
  accepted: readonly Judged[],
): Promise<Uint8Array> {
  for (const name of ['report-status', 'side-band-64k'])
    if (!capabilities.has(name)) throw fatal('the remote does not speak the protocol of our time')
  const used = ['report-status', 'side-band-64k']
  if ([...capabilities].some((name) => name.startsWith('agent='))) used.push(AGENT)
  const commands = accepted.map(({ update: { oid, remoteRef }, before }, i) => {
    const words = `${before ?? NULL_ID} ${oid ?? NULL_ID} ${remoteRef}`
    return i === 0 ? `${words}\0 ${used.join(' ')}` : words
  })
  const shallow = [...(await repo.shallow())].map((oid) => `shallow ${oid}\n`)
  const head = [...[...shallow, ...commands].map(packetLine), FLUSH]
  const wanted = accepted.map(({ update }) => update.oid).filter((oid) => oid !== null)
  if (wanted.length === 0) return joinBytes(head)
  return joinBytes([...head, await packOf(repo, await objectsBetween(repo, wanted, [...refs.values()]))])
}

/** The report consists of packet lines inside packet lines. */
async function verdictsOf(report: readonly Uint8Array[]): Promise<Map<string, Verdict>> {
  const verdicts = new Map<string, Verdict>()
  for await (const line of packetsOf(inOrder(report))) {
    const text = textOf(line ?? new Uint8Array()).trimEnd()
    const [, word, rest = ''] = /^(unpack|ok|ng) (.*)$/s.exec(text) ?? []
    if (word === 'unpack' && rest !== 'ok') throw new GitFailure(`error: remote unpack failed: ${rest}`, 1)
    if (word === 'ok') verdicts.set(rest, { kind: 'accepted' })
    if (word !== 'ng') continue
    const [ref = '', ...reason] = rest.split(' ')
    verdicts.set(ref, { kind: 'remote-rejected', reason: reason.join(' ') || 'refused' })
  }
  return verdicts
}

async function* inOrder(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts
}
