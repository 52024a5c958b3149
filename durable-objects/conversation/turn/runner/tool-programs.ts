// The stored state of the tool servers that run as programs on the runner: which were started, and the newest tool
// call. This state outlives the runner's process. A restarted runner knows nothing of it, so `life` says which process
// it belongs to.

import { z } from 'zod'
import { sha256Hex } from '../../../../src/lib/crypto.ts'
import { errorFields, log } from '../../../../src/lib/log.ts'
import type { ProcessServer } from '../../../../src/mcp/remote-server.ts'
import { McpFailure } from '../../../../src/mcp/wire.ts'
import { NoAnswer, type RpcPeer } from '../../../../src/runners/rpc.ts'
import type { StoredRecord } from '../../../stored-record.ts'

/**
 * Programs that were started in one life of the runner's process. `program` is a hash, because variables and arguments
 * may contain keys.
 */
export type ProcessRecord = {
  life: string
  servers: Record<string, { program: string; greeting: unknown }>
  /**
   * The newest tool call, and the life of the runner's process to which it was sent; empty when it was not sent yet, so
   * that nothing has begun it. `isOpen`: it was sent and not answered yet.
   */
  call: { key: string; life: string; isOpen: boolean } | null
}

export const NO_PROCESSES: ProcessRecord = { life: '', servers: {}, call: null }

export type ProcessLink = { readonly peer: RpcPeer; readonly life: string }

const TRIES = 3

/** The newest tool call. */
export class NewestCall {
  readonly #record: StoredRecord<ProcessRecord>

  constructor(record: StoredRecord<ProcessRecord>) {
    this.#record = record
  }

  /** Notes that the call is meant for a program: a restart before it is sent costs nothing. */
  plan(key: string): void {
    if (!this.isOpen(key)) this.#record.change({ call: { key, life: '', isOpen: false } })
  }

  sent(key: string, life: string): void {
    this.#record.change({ call: { key, life, isOpen: true } })
  }

  /** The runner life to which the call of this key was sent; null when it was not sent. */
  lifeOf(key: string | null): string | null {
    const { call } = this.#record.value
    return call !== null && call.key === key && call.life !== '' ? call.life : null
  }

  /** Whether the outcome of the call can still be learned, or the call is still to be made. */
  isOpen(key: string): boolean {
    return this.#record.value.call?.key === key
  }

  /** Whether an answer is awaited from the runner to which the call was sent. */
  get isAwaited(): boolean {
    return this.#record.value.call?.isOpen === true
  }

  /** Another effect begins, so an earlier call is over. */
  passed(key: string): void {
    const { call } = this.#record.value
    if (call?.isOpen === true && call.key !== key) this.over()
  }

  over(): void {
    const { call } = this.#record.value
    if (call !== null) this.#record.change({ call: { ...call, isOpen: false } })
  }
}

type Deps = {
  record: StoredRecord<ProcessRecord>
  /** Null while no runner is connected. */
  link(): ProcessLink | null
  /** Whether the runner that a call was sent to is connected again, within the time that a call waits for it. */
  comesBack(): Promise<boolean>
  /** Brings the runner's copy of the workspace up to date. */
  bringUp(): Promise<void>
}

/** The programs that were started on the runner. */
export class StartedPrograms {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  has(id: string): boolean {
    return this.#deps.record.value.servers[id] !== undefined
  }

  /** The program's answer to `initialize`; null before it. */
  greetingOf(id: string): unknown {
    return this.#deps.record.value.servers[id]?.greeting ?? null
  }

  greeted(id: string, greeting: unknown): void {
    const { servers } = this.#deps.record.value
    const started = servers[id]
    if (started !== undefined) this.#deps.record.change({ servers: { ...servers, [id]: { ...started, greeting } } })
  }

  /**
   * Starts the program unless it runs, and returns the runner's life. No call was sent yet, so a lost connection costs
   * only time.
   */
  async start(server: ProcessServer): Promise<string> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.#started(server)
      } catch (error) {
        const isCut = error instanceof NoAnswer || this.#deps.link() === null
        if (!isCut || tries >= TRIES || !(await this.#deps.comesBack())) throw error
      }
    }
  }

  async #started({ id, program }: ProcessServer): Promise<string> {
    const { name: _label, ...started } = program
    const hash = await sha256Hex(JSON.stringify(started))
    const { peer, life } = linked(this.#deps.link())
    const { record } = this.#deps
    const known = record.value.life === life ? record.value.servers : {}
    if (known[id]?.program === hash) return life
    await this.#deps.bringUp()
    const { args, env, command } = program
    await peer.call('server/start', { name: id, command, args: [...args], env: { ...env } }, z.unknown())
    const others = record.value.life === life ? record.value.servers : {}
    record.change({ life, servers: { ...others, [id]: { program: hash, greeting: null } } })
    return life
  }

  /** Stops all programs except these servers. */
  only(wanted: readonly ProcessServer[]): void {
    const { life, servers: started } = this.#deps.record.value
    const link = this.#deps.link()
    const kept = Object.entries(started).filter(([id]) => wanted.some((server) => server.id === id))
    if (kept.length === Object.keys(started).length || link === null || link.life !== life) return
    for (const id of Object.keys(started)) if (!kept.some(([name]) => name === id)) void stopped(link.peer, id)
    this.#deps.record.change({ servers: Object.fromEntries(kept) })
  }

  async stop(peer: RpcPeer, id: string): Promise<void> {
    await stopped(peer, id)
    this.forget(id)
  }

  /** The program has ended. */
  forget(id: string): void {
    const { [id]: _ended, ...servers } = this.#deps.record.value.servers
    this.#deps.record.change({ servers })
  }
}

export function linked(link: ProcessLink | null): ProcessLink {
  if (link === null) throw new McpFailure('The runner is not connected')
  return link
}

async function stopped(peer: RpcPeer, name: string): Promise<void> {
  try {
    await peer.call('server/stop', { name }, z.unknown())
  } catch (error) {
    log.info('tool_server.not_stopped', errorFields(error))
  }
}
