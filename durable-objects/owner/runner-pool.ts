// The runners of one owner: which are connected, what each can do, and which conversation uses which. A runner keeps
// one socket here, over which it learns which conversation needs it. Messages of a runner are not trusted: it can
// describe itself and connect to the conversations whose tickets it got, nothing else.

import { z } from 'zod'
import { errorFields, log } from '../../src/lib/log.ts'
import { count } from '../../src/lib/metrics.ts'
import { NoAnswer, RpcError, RpcPeer } from '../../src/runners/rpc.ts'
import {
  RPC_ERRORS,
  RunnerDescription,
  type RunnerHello,
  type RunnerWelcome,
  WIRE_VERSION,
} from '../../src/runners/wire.ts'
import { firstRow, rows } from '../sql.ts'
import { attach, attachmentOf, isOpen } from './runner-attachment.ts'
import { Pace } from './runner-pace.ts'

/** The most sockets of all runners of an owner. */
const MAX_RUNNER_SOCKETS = 200
/** The rate of new connections and hellos of all runners. All of them reconnect at once after a restart of the service. */
const COMINGS = { most: MAX_RUNNER_SOCKETS, perSecond: 5 }
/** The rate of messages of all runners, without answers. A long message counts as several. */
const MESSAGES = { most: 300, perSecond: 30 }
const MESSAGE_CHARS = 8 * 1024
/** A runner that does not answer within this time counts as gone. */
const OPEN_WITHIN_MS = 5_000
/** The same for the old connection of a runner when another one with its id connects. */
const ALIVE_WITHIN_MS = 1_500
const TWIN =
  'a runner with this id is connected already, from a copy of the same folder: give each its own --workspaces, or delete the file runner-id in the copy'
/** After a restart of the service, or a network failure, runners reconnect within this time. */
const RETURN_WITHIN_MS = 10_000

/** How long, and how many, disconnected runners are remembered. Each container is a new runner. */
const REMEMBERED_MS = 30 * 24 * 3600_000
const REMEMBERED = 700

/** A larger difference of the clocks is logged. */
const WRONG_CLOCK_MS = 60_000

export type WantedRunner = {
  conversation: string
  /** The id of the conversation's object. */
  holder: string
  /** The path where the runner connects, and the ticket that admits it. */
  path: string
  ticket: string
  labels: readonly string[]
  /** Labels that are optional: among several runners, one that has them is chosen. */
  preferred: readonly string[]
  /** The only runner to ask; null for any. */
  only: string | null
  /** A runner that did not connect when it was told to: it is asked only after all others. */
  last: string | null
  /** How long a runner may take to answer if another one is free. */
  patienceMs: number
}

/** No runner is connected, none has the labels, all that have them are busy, or the disk of a free one is full. */
export type NoRunner = 'none' | 'labels' | 'full' | 'disk'
/** `others`: how many others could take the conversation. `isReturning`: one that did not sign off may be reconnecting. */
export type RunnerAnswer =
  | { ok: true; runner: RunnerDescription; others: number }
  | { ok: false; reason: NoRunner; busy: number; others: number; isReturning: boolean }

export type RunnerInfo = RunnerDescription & {
  state: 'connected' | 'draining' | 'gone'
  conversations: number
  /** Epoch ms. */
  seenAt: number
}

type Row = { id: string; description: string; seen_at: number; draining: number; used: number }

type PoolDeps = { unknown(ids: readonly string[]): string[]; changed(): void; sql?: SqlStorage }

export class RunnerPool {
  readonly #ctx: DurableObjectState
  readonly #sql: SqlStorage
  readonly #unknown: (conversations: readonly string[]) => string[]
  readonly #changed: () => void
  readonly #peers = new Map<WebSocket, RpcPeer>()
  readonly #ended = new WeakSet<WebSocket>()
  readonly #since = Date.now()
  readonly #openings = new Pace(COMINGS)
  readonly #greetings = new Pace(COMINGS)
  readonly #messages = new Pace(MESSAGES)

  /** `unknown`: those conversations that the owner does not have. `changed` is called when a runner comes or goes. */
  constructor(ctx: DurableObjectState, { unknown, changed, sql = ctx.storage.sql }: PoolDeps) {
    this.#ctx = ctx
    this.#sql = sql
    this.#unknown = unknown
    this.#changed = changed
  }

  /** The number of connected runners. */
  get connected(): number {
    return liveRunners(this.#ctx).size
  }

  /** Accepts a runner's socket, with the expiry of its key; null when too many are open, or are opened at a time. */
  accept(key: string | null, until: number | null): WebSocket | null {
    if (this.#ctx.getWebSockets().length >= MAX_RUNNER_SOCKETS || !this.#openings.take()) return null
    const { 0: client, 1: server } = new WebSocketPair()
    this.#ctx.acceptWebSocket(server)
    attach(server, { key, until, runner: null, life: null, left: null })
    return client
  }

  async receive(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    if (typeof data !== 'string') return socket.close(1003, 'only text comes here')
    if (this.#messages.take(1 + Math.floor(data.length / MESSAGE_CHARS))) await this.#peer(socket).receive(data)
    // Further messages of this socket are not read.
    else if (isOpen(socket)) socket.close(1008, 'too many messages')
  }

  /** The socket is closed. */
  left(socket: WebSocket): void {
    this.#peers.get(socket)?.close('the runner is gone')
    this.#peers.delete(socket)
    const { runner } = attachmentOf(socket)
    if (runner === null || this.#ended.has(socket)) return
    this.#sql.exec('UPDATE runners SET seen_at = ? WHERE id = ?', Date.now(), runner)
    log.info('runner.left', { runner })
    this.#changed()
  }

  /** The owner is deleted: closes every connection. In local mode the runners reconnect to an empty service. */
  endAll(): void {
    for (const socket of this.#ctx.getWebSockets()) {
      this.#ended.add(socket)
      socket.close(1012, 'the owner was deleted')
    }
    this.#changed()
  }

  /** Asks the conversation's earlier runner, else others by rank; the runner then opens a socket to the conversation. */
  async want(wanted: WantedRunner): Promise<RunnerAnswer> {
    const before = firstRow<{ runner: string }>(
      this.#sql,
      'SELECT runner FROM runner_conversations WHERE conversation = ?',
      wanted.conversation,
    )
    const online = onlineOf(this.#ctx, this.list())
    const fitting = [...online.keys()]
      .filter((info) => fits(info, wanted.labels))
      .sort((a, b) => rank(b, wanted, before?.runner) - rank(a, wanted, before?.runner))
    const isFree = (info: RunnerInfo) => info.state !== 'draining' && info.conversations < info.capacity
    let isSilent = false
    let hasNoRoom = false
    const othersOf = (id: string | null) => fitting.filter((info) => info.id !== id && isFree(info)).length
    for (const info of fitting) {
      if (wanted.only !== null && info.id !== wanted.only) continue
      if (info.id !== before?.runner && !isFree(info)) continue
      const socket = online.get(info)
      const others = othersOf(info.id)
      const withinMs = others > 0 ? Math.min(OPEN_WITHIN_MS, wanted.patienceMs) : OPEN_WITHIN_MS
      if (socket === undefined) continue
      const taken = await this.#open(socket, info.id, { ...wanted, withinMs })
      if (taken === 'yes') return { ok: true, runner: descriptionOf(info), others }
      isSilent ||= taken === 'silent'
      hasNoRoom ||= taken === 'disk'
    }
    const others = wanted.only === null ? 0 : othersOf(wanted.only)
    const isReturning = this.#isReturning(wanted.labels)
    const counts = { busy: fitting.length, others, isReturning }
    // A runner that does not answer is gone although its socket is still open. One that is shutting down counts as
    // gone.
    const isStaying = ({ state }: RunnerInfo) => state !== 'draining'
    if (![...online.keys()].some(isStaying) || isSilent) return { ok: false, reason: 'none', ...counts }
    if (!fitting.some(isStaying)) return { ok: false, reason: 'labels', ...counts }
    return { ok: false, reason: hasNoRoom ? 'disk' : 'full', ...counts }
  }

  /** The conversation needs its runner no longer. `erase`: it was deleted, so the runner deletes its copy of the files. */
  async release(conversation: string, erase: boolean): Promise<void> {
    const row = firstRow<{ runner: string }>(
      this.#sql,
      'DELETE FROM runner_conversations WHERE conversation = ? RETURNING runner',
      conversation,
    )
    const socket = row && socketOf(this.#ctx, row.runner)
    if (!erase && socket) await this.#close(socket, conversation, erase)
    // The runners that it used earlier are not known, so a copy may be on any of them.
    if (erase)
      await Promise.all(
        [...onlineOf(this.#ctx, this.list()).values()].map((one) => this.#close(one, conversation, erase)),
      )
  }

  list(): RunnerInfo[] {
    const live = liveRunners(this.#ctx)
    return rows<Row>(
      this.#sql,
      `SELECT id, description, seen_at, draining,
         (SELECT count(*) FROM runner_conversations WHERE runner = runners.id) AS used
       FROM runners ORDER BY seen_at DESC LIMIT 1000`,
    ).map((row) => infoOf(row, live.get(row.id)))
  }

  /** Removes the runner and closes its socket; returns its conversations' objects, or null for an unknown runner. */
  remove(id: string): string[] | null {
    if (firstRow(this.#sql, 'SELECT 1 FROM runners WHERE id = ?', id) === null) return null
    const holders = holdersOf(this.#sql, id)
    socketOf(this.#ctx, id)?.close(1008, 'this runner was let go')
    this.#sql.exec('DELETE FROM runner_conversations WHERE runner = ?', id)
    this.#sql.exec('DELETE FROM runners WHERE id = ?', id)
    return holders
  }

  /** For a request, whose answer must not count against the message limit. */
  #asking(socket: WebSocket): RpcPeer {
    this.#messages.give()
    return this.#peer(socket)
  }

  #peer(socket: WebSocket): RpcPeer {
    const known = this.#peers.get(socket)
    if (known !== undefined) return known
    const peer = new RpcPeer((text) => socket.send(text), {
      'runner/hello': (hello) => this.#greet(socket, hello),
      'runner/draining': ({ conversations }) => {
        const attachment = attachmentOf(socket)
        attach(socket, { ...attachment, left: conversations ?? attachment.left })
        this.#sql.exec('UPDATE runners SET draining = 1 WHERE id = ?', attachment.runner)
      },
    })
    this.#peers.set(socket, peer)
    return peer
  }

  async #greet(socket: WebSocket, hello: RunnerHello): Promise<RunnerWelcome> {
    const { runner, holds, clock } = hello
    const life = hello.life ?? null
    const { key, until, runner: before } = attachmentOf(socket)
    if (!this.#greetings.take()) throw new RpcError(RPC_ERRORS.full, 'too many runners come at once: try again later')
    if (before !== null && before !== runner.id)
      throw new RpcError(RPC_ERRORS.refused, 'this connection has said hello as another runner')
    const others = this.#ctx.getWebSockets().filter((one) => one !== socket && attachmentOf(one).runner === runner.id)
    for (const other of others) if (await this.#isAnother(other, life)) throw new RpcError(RPC_ERRORS.refused, TWIN)
    // The same runner again: its old connection is dead, which this service has not noticed yet.
    for (const other of others) other.close(4001, 'connected again')
    const now = Date.now()
    this.#sql.exec(
      'INSERT OR REPLACE INTO runners (id, description, seen_at, draining, key, until) VALUES (?, ?, ?, 0, ?, ?)',
      ...[runner.id, JSON.stringify(runner), now, key, until],
    )
    attach(socket, { key, until, runner: runner.id, life, left: null })
    // After a restart of the service, runners that were connected are still reconnecting.
    if (now - this.#since >= RETURN_WITHIN_MS) forgetLongGone(this.#ctx, this.#sql, now)
    log.info('runner.joined', { runner: runner.id, name: runner.name, version: runner.version, holds: holds.length })
    count('bellwether_runner_connections_total')
    this.#changed()
    // Only a warning: the service does not use the runner's clock, but commands and files there get wrong times.
    if (Math.abs(clock - now) > WRONG_CLOCK_MS)
      log.warn('runner.clock_wrong', { runner: runner.id, offSeconds: Math.round((clock - now) / 1000) })
    this.#ctx.waitUntil(this.#eraseDeleted(socket, holds))
    return { wire: WIRE_VERSION, now }
  }

  /** Whether the old socket belongs to another process: one process does not know the calls that another has begun. */
  async #isAnother(socket: WebSocket, life: string | null): Promise<boolean> {
    const before = attachmentOf(socket).life
    if (life === null || before === null || before === life || !isOpen(socket)) return false
    try {
      // This conversation does not exist, so there is nothing to close: the call is only a ping.
      const nothing = { conversation: 'none', erase: false }
      await this.#asking(socket).call('conversation/close', nothing, z.object({}), ALIVE_WITHIN_MS)
      return true
    } catch (error) {
      return !(error instanceof NoAnswer)
    }
  }

  /** Deletes the folders of conversations that were deleted while the runner was away. */
  async #eraseDeleted(socket: WebSocket, holds: readonly string[]): Promise<void> {
    for (const conversation of this.#unknown(holds)) {
      // The rest follows at the next connection: a runner that does not answer must not be waited for once per
      // conversation.
      if (!isOpen(socket) || !(await this.#close(socket, conversation, true))) return
    }
  }

  /** False when there was no answer. */
  async #close(socket: WebSocket, conversation: string, erase: boolean): Promise<boolean> {
    try {
      await this.#asking(socket).call('conversation/close', { conversation, erase }, z.object({}), OPEN_WITHIN_MS)
    } catch (error) {
      log.warn('runner.not_closed', { conversation, ...errorFields(error) })
      return !(error instanceof NoAnswer)
    }
    return true
  }

  async #open(
    socket: WebSocket,
    runner: string,
    wanted: WantedRunner & { withinMs: number },
  ): Promise<'yes' | 'refused' | 'disk' | 'silent'> {
    const { conversation, path, ticket, holder, withinMs } = wanted
    try {
      await this.#asking(socket).call('conversation/open', { conversation, path, ticket }, z.object({}), withinMs)
    } catch (error) {
      log.warn('runner.not_opened', { runner, conversation, ...errorFields(error) })
      // A half-open connection looks like this.
      if (error instanceof NoAnswer && withinMs === OPEN_WITHIN_MS) socket.close(1011, 'no answer')
      if (error instanceof NoAnswer) return 'silent'
      return error instanceof RpcError && error.code === RPC_ERRORS.noRoom ? 'disk' : 'refused'
    }
    this.#sql.exec('INSERT OR REPLACE INTO runner_conversations VALUES (?, ?, ?)', conversation, runner, holder)
    return 'yes'
  }

  /** Whether a runner that did not sign off lost its connection just now, or when this service restarted. */
  #isReturning(labels: readonly string[]): boolean {
    const from = Date.now() - RETURN_WITHIN_MS
    const query = 'SELECT id FROM runners WHERE draining = 0 AND (seen_at > ? OR ?)'
    const lost = new Set(rows<{ id: string }>(this.#sql, query, from, Number(this.#since > from)).map(({ id }) => id))
    return this.list().some((info) => info.state === 'gone' && lost.has(info.id) && fits(info, labels))
  }
}

function onlineOf(ctx: DurableObjectState, list: readonly RunnerInfo[]): Map<RunnerInfo, WebSocket> {
  const infos = new Map(list.map((info) => [info.id, info]))
  const online = new Map<RunnerInfo, WebSocket>()
  for (const socket of ctx.getWebSockets()) {
    const info = infos.get(attachmentOf(socket).runner ?? '')
    if (info !== undefined && isOpen(socket)) online.set(info, socket)
  }
  return online
}

const socketOf = (ctx: DurableObjectState, runner: string): WebSocket | null =>
  ctx.getWebSockets().find((one) => isOpen(one) && attachmentOf(one).runner === runner) ?? null

function holdersOf(sql: SqlStorage, runner: string): string[] {
  const query = 'SELECT holder FROM runner_conversations WHERE runner = ?'
  return rows<{ holder: string }>(sql, query, runner).map(({ holder }) => holder)
}

const fits = ({ labels }: RunnerInfo, wanted: readonly string[]): boolean =>
  wanted.every((label) => labels.includes(label))

/**
 * The order of runners: first the one with the conversation's files, then one with the preferred labels, then one
 * without labels that were not requested, because another conversation may need those, then the one with the most free
 * capacity. The runner in `last` comes after all others.
 */
function rank(info: RunnerInfo, { labels, preferred, last }: WantedRunner, before: string | undefined): number {
  const { id, capacity, conversations } = info
  if (id === last) return -1
  if (id === before) return 8
  const asked = new Set([...labels, ...preferred])
  const isPlain = info.labels.every((label) => asked.has(label))
  return (fits(info, preferred) ? 4 : 0) + (isPlain ? 2 : 0) + (capacity - conversations) / capacity
}

/** `live`: data of its open socket, if there is one. */
function infoOf({ description, seen_at: seenAt, draining, used }: Row, live?: { left: number | null }): RunnerInfo {
  const state = live === undefined ? 'gone' : draining === 0 ? 'connected' : 'draining'
  // A runner that is shutting down releases conversations that keep their assignment to it.
  const conversations = state === 'draining' ? (live?.left ?? used) : used
  return { ...RunnerDescription.parse(JSON.parse(description)), state, conversations, seenAt }
}

function descriptionOf({
  state: _state,
  conversations: _used,
  seenAt: _seen,
  ...description
}: RunnerInfo): RunnerDescription {
  return description
}

/** The runners of the open sockets. */
function liveRunners(ctx: DurableObjectState): Map<string, { left: number | null }> {
  const open = ctx.getWebSockets().filter(isOpen).map(attachmentOf)
  return new Map(open.flatMap(({ runner, left }) => (runner === null ? [] : [[runner, { left }] as const])))
}

function forgetLongGone(ctx: DurableObjectState, sql: SqlStorage, now: number): void {
  const live = JSON.stringify(ctx.getWebSockets().map((socket) => attachmentOf(socket).runner))
  sql.exec(
    `DELETE FROM runners WHERE id NOT IN (SELECT value FROM json_each(?) WHERE value IS NOT NULL)
       AND (seen_at < ? OR id NOT IN (SELECT id FROM runners ORDER BY seen_at DESC LIMIT ?))`,
    live,
    now - REMEMBERED_MS,
    REMEMBERED,
  )
}
