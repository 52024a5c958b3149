// The log of a conversation and those who follow it: the classes of the object, put together as its state puts them together. The
// agent says some words after each message, in an alarm of its own.

import { Alarms } from '../../../durable-objects/alarms.ts'
import { ClientRefs } from '../../../durable-objects/conversation/events/client-refs.ts'
import { EventLog } from '../../../durable-objects/conversation/events/event-log.ts'
import { IndexRow } from '../../../durable-objects/conversation/lifecycle/index-row.ts'
import type { UsageReport } from '../../../durable-objects/conversation/lifecycle/usage-report.ts'
import { Sessions } from '../../../durable-objects/conversation/sockets/sessions.ts'
import { SocketMessages } from '../../../durable-objects/conversation/sockets/socket-messages.ts'
import { SocketPermits } from '../../../durable-objects/conversation/sockets/socket-permits.ts'
import { placeNote } from '../../../src/agent/actions.ts'
import type { ActionEvent, NewEvent } from '../../../src/agent/events.ts'
import type { Disk } from '../disk.ts'
import { ObjectHost } from './object-host.ts'
import type { ClientEnd } from './sockets.ts'
import type { CoreWorld } from './world.ts'

export const CHAT_TABLES = ['meta', 'events', 'event_parts', 'client_refs', 'alarms', 'outbox']
const CREATED_AT = '2026-08-13T01:30:00.000000Z'

type Name = 'agent' | 'outbox' | 'sockets' | 'expiry'

class ChatObject {
  readonly log: EventLog
  readonly sessions: Sessions
  readonly permits: SocketPermits
  readonly opening = { isRunning: true }
  readonly usage = { full: null, lookAgain: () => {} }
  readonly #alarms: Alarms<Name>
  readonly #refs: ClientRefs
  readonly #index: IndexRow
  readonly #messages: SocketMessages
  readonly #say: () => number

  constructor(ctx: DurableObjectState, { env, say }: { env: Env; say: () => number }) {
    const { sql } = ctx.storage
    this.#say = say
    this.log = new EventLog(sql)
    this.#refs = new ClientRefs(sql, this.log.last)
    this.#alarms = new Alarms(ctx.storage)
    this.#index = new IndexRow({
      ...{ env, sql, talk: () => null, usage: { isDue: false } as UsageReport },
      wakeAt: (at) => this.#alarms.atLatest('outbox', at),
      summary: () => ({
        ...{ id: 'chat', owner: 'ann', title: '', createdAt: CREATED_AT, lastUpdatedAt: this.log.lastAt },
        ...{ status: 'RUNNING', runtimeStatus: null, agentState: null, selectedRepository: null, selectedBranch: null },
        ...{ gitProvider: null, trigger: null, numConnections: this.log.last, prNumber: [] },
      }),
    })
    this.sessions = new Sessions(ctx, this.log, {
      wakeAt: (at) => this.#alarms.atLatest('sockets', at),
      countChanged: () => this.#index.mark(),
      left: (key) => this.permits.left(key),
      expireAt: (at) => this.#alarms.atLatest('expiry', at),
      sent: () => this.#wait,
    })
    this.permits = new SocketPermits({
      ask: async ({ sockets }) => ({ ok: true, granted: sockets }),
      count: (key) => this.sessions.countByKey().get(key) ?? 0,
      close: () => {},
      wait: (work) => ctx.waitUntil(work),
    })
    this.#messages = new SocketMessages(this, { perSecond: 1_000, ofKey: null, processed: () => this.#wait })
  }

  /** Now and then somebody else is at work, and what is sent next waits. */
  get #wait(): number {
    return this.log.last % 5 === 0 ? 40 : 0
  }

  accept(after: number): ClientEnd {
    const credential = { key: null, until: null }
    return this.sessions.accept({ protocol: 'plain', after, credential }) as unknown as ClientEnd
  }

  receive(event: ActionEvent, ref: string | null): number | 'other_event' {
    return this.#refs.once(ref, event, () => {
      this.#alarms.atLatest('agent', Date.now())
      return this.#emit([event])
    })
  }

  async alarm({ scheduledTime }: AlarmInvocationInfo): Promise<void> {
    await this.#alarms.fire(scheduledTime, async (name) => {
      if (name === 'agent') this.#answer()
      else if (name === 'outbox') await this.#index.deliver()
      else if (name === 'sockets') this.sessions.ping(Date.now())
      else this.sessions.expire(Date.now())
    })
  }

  async webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    this.#messages.receive(socket, data)
  }

  webSocketClose(socket: WebSocket): void {
    this.permits.behind(null, () => this.sessions.forget(socket))
  }

  #answer(): void {
    this.sessions.together(() => {
      for (let count = this.#say(); count > 0; count--) this.#emit([placeNote(`words ${count}`)])
    })
  }

  #emit(events: NewEvent[]): number {
    const first = this.log.last + 1
    this.sessions.broadcast(this.log.append(events))
    this.#index.mark()
    return first
  }
}

export type Chat = ObjectHost<ChatObject>

export function newChat(world: CoreWorld, disk: Disk, env: Env): Chat {
  const say = () => (world.random.chance(0.03) ? 150 : 1 + world.random.below(3))
  return new ObjectHost('chat', { world, disk, make: (ctx) => new ChatObject(ctx, { env, say }) })
}
