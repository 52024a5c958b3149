// The ports of a conversation: the servers that its runner reports, and the secret part of each address. A secret is
// made when a port is first listed. It is valid until it is revoked, or until the conversation gets another runner.

import { z } from 'zod'
import { constantTimeEqual } from '../../../../src/lib/crypto.ts'
import { errorFields, log } from '../../../../src/lib/log.ts'
import { PortList, PortOpen } from '../../../../src/runners/port-wire.ts'
import { newPortSecret } from '../../../../src/runners/ticket.ts'
import type { StoredRecord } from '../../../stored-record.ts'
import { type PortLink, PortStreams } from './port-streams.ts'

/** `runner`: the id of the runner with these ports. */
export type PortsRecord = { runner: string; secrets: Record<string, string> }
export const NO_PORTS: PortsRecord = { runner: '', secrets: {} }

type Deps = {
  record: StoredRecord<PortsRecord>
  /** The runner that has the conversation, connected or not; null for none. */
  runner(): string | null
  link(): PortLink | null
  /** Resolves when the runner is connected, or when waiting for it is over. */
  settled(): Promise<void>
}

const LIST_MS = 10_000
/** Headers: the Worker's order for a request to a port, and the response head of this object. */
const ORDER_HEADER = 'x-port-order'
const HEAD_HEADER = 'x-port-head'
/** The secrets of all ports, to rewrite redirects from one port to another. */
const PEERS_HEADER = 'x-port-peers'
const FAILURE_HEADER = 'x-port-failure'

const Order = PortOpen.omit({ stream: true, port: true }).extend({ secret: z.string() })

export class ConversationPorts {
  readonly streams: PortStreams
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
    this.streams = new PortStreams(deps.link)
  }

  /** The servers that listen now. */
  async list(): Promise<{ port: number; secret: string }[]> {
    const { runner, settled, link, record } = this.#deps
    const id = runner()
    if (id === null) return []
    await settled()
    const open = link()
    if (open === null) return []
    const ports = await open.peer.call('port/list', {}, PortList, LIST_MS).catch(nothingListed)
    const known = this.#secrets
    const secrets = Object.fromEntries(ports.ports.map((port) => [port, known[port] ?? newPortSecret()]))
    const isNew = ports.ports.some((port) => known[port] === undefined) || record.value.runner !== id
    // A port that does not listen now keeps its address: a restarted server has the same address as before.
    if (isNew) record.change({ runner: id, secrets: { ...known, ...secrets } })
    return ports.ports.map((port) => ({ port, secret: secrets[port] ?? '' }))
  }

  /** Revokes the address of the port; the next list gives it a new one. False when it had none. */
  revoke(port: number): boolean {
    const { [port]: secret, ...secrets } = this.#secrets
    if (secret === undefined) return false
    this.#deps.record.change({ secrets })
    this.streams.endAt(port)
    return true
  }

  /**
   * Answers a request for the port that the secret names. 404: there is no such port. 502: the server does not answer.
   */
  async serve(request: Request): Promise<Response> {
    const order = Order.safeParse(JSON.parse(request.headers.get(ORDER_HEADER) ?? 'null'))
    if (!order.success) return failure(400, 'The request has a form that no server here would understand.')
    const { secret, ...wanted } = order.data
    const port = this.#portOf(secret)
    if (port === null) return failure(404, 'This address belongs to no server.')
    await this.#deps.settled()
    const body = wanted.hasBody ? request.body : null
    const answer = await this.streams.ask({ ...wanted, hasBody: body !== null, port }, body)
    if (!answer.ok) return failure(502, answer.reason)
    const { head, stream } = answer
    request.signal.addEventListener('abort', () => stream.giveUp('the client left'))
    const isMoved = head.headers.some(([name]) => name.toLowerCase() === 'location')
    const headers = {
      [HEAD_HEADER]: JSON.stringify(head.headers),
      ...(isMoved && { [PEERS_HEADER]: JSON.stringify(this.#secrets) }),
    }
    if ((head.status === 101) !== (wanted.kind === 'socket')) {
      stream.giveUp('an answer of the wrong kind')
      return failure(502, 'The server answered something else than it was asked.')
    }
    if (head.status === 101) {
      const { 0: client, 1: server } = new WebSocketPair()
      stream.join(server)
      return new Response(null, { status: 101, webSocket: client, headers })
    }
    const content = stream.body()
    if ([204, 205, 304].includes(head.status) || wanted.method === 'HEAD') {
      await content.cancel()
      return new Response(null, { status: head.status, headers })
    }
    return new Response(content, { status: Math.max(head.status, 200), headers })
  }

  get #secrets(): Readonly<Record<string, string>> {
    const { record, runner } = this.#deps
    return record.value.runner === runner() ? record.value.secrets : {}
  }

  #portOf(secret: string): number | null {
    const found = Object.entries(this.#secrets).find(([, known]) => constantTimeEqual(known, secret))
    return found === undefined ? null : Number(found[0])
  }
}

function failure(status: number, reason: string): Response {
  return new Response(null, { status, headers: { [FAILURE_HEADER]: encodeURIComponent(reason) } })
}

/** A runner of an earlier release has no port list; one that does not answer counts as without ports. */
function nothingListed(error: unknown): PortList {
  log.info('ports.not_listed', errorFields(error))
  return { ports: [] }
}
