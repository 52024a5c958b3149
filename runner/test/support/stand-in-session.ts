// What a conversation's object does for its runner: a tree with revisions, calls with their output, transfers both ways.

import { randomBytes } from 'node:crypto'
import type { WebSocket } from 'ws'
import { Rpc } from './rpc.ts'
import { type Node, StandInTree } from './stand-in-tree.ts'

export type Outcome = {
  state: string
  text: string
  exitCode: number
  cwd: string
  user: string
  host: string
  interpreter: string
  outputBytes: number
  remarks: string[]
}
export type Hello = {
  tree: { epoch: string; revision: number } | null
  calls: { key: string; state: string }[]
  life: string
}
export type CallOptions = {
  kind?: 'run' | 'input' | 'more' | 'cell' | 'interrupt' | 'restart' | 'browser'
  key?: string
  cwd?: string
  env?: Record<string, string>
  quietMs?: number
  softMs?: number | null
  hardMs?: number
}
type CallRecord = {
  output: Buffer[]
  nextSeq: number
  outcome: Outcome | null
  tree: Map<string, Node> | null
  ends: number
}

export class Session {
  readonly id: string
  ticket = randomBytes(16).toString('hex')
  readonly tree = new StandInTree()
  readonly calls = new Map<string, CallRecord>()
  readonly hellos: Hello[] = []
  exclude = ['node_modules', '.venv', '__pycache__']
  maxFileBytes = 20 * 1024 * 1024
  maxWorkspaceBytes = 200 * 1024 * 1024
  /** Called for each frame of output and of an upload, before it is acknowledged; false keeps it from being acknowledged. */
  onFrame: (kind: 'output' | 'files', seq: number) => boolean = () => true
  onEnded: (key: string) => void = () => {}
  rpc: Rpc | null = null
  #nextTransfer = 0
  #nextKey = 0
  #acks = new Map<string, { seq: number; wake: () => void }>()
  #waiters: (() => void)[] = []
  extra: Record<string, (params: Record<string, unknown>) => unknown> = {}

  constructor(id: string) {
    this.id = id
  }

  connected(socket: WebSocket): void {
    this.tree.abandon()
    const rpc: Rpc = new Rpc(
      socket,
      {
        'session/hello': (params) => {
          this.hellos.push(params as unknown as Hello)
          this.rpc = rpc
          setImmediate(() => this.#changed())
          return {
            wire: 1,
            stored: this.tree.lastStored,
            exclude: this.exclude,
            maxFileBytes: this.maxFileBytes,
            maxWorkspaceBytes: this.maxWorkspaceBytes,
          }
        },
        'transfer/begin': (params) => this.tree.begin(params),
        'transfer/commit': (params) => {
          const revision = this.tree.commit(Number(params.transfer), params)
          this.#changed()
          return { revision, refused: [] }
        },
        'call/ended': (params) => this.#ended(params),
        'frame/ack': ({ stream, seq }) => {
          const waiting = this.#acks.get(String(stream))
          if (waiting !== undefined) {
            waiting.seq = Number(seq)
            waiting.wake()
          }
        },
        'host/ask': () => ({ isAllowed: false }),
        ...Object.fromEntries(Object.keys(this.extra).map((name) => [name, (params) => this.extra[name]?.(params)])),
      },
      (frame) => this.#binary(rpc, frame),
    )
    void rpc.closed.then(() => {
      if (this.rpc === rpc) this.rpc = null
      this.#changed()
    })
  }

  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise<void>((resolve) => this.#waiters.push(resolve))
  }

  async ready(): Promise<void> {
    await this.until(() => this.rpc !== null)
  }

  get lastHello(): Hello {
    const hello = this.hellos.at(-1)
    if (hello === undefined) throw new Error('no hello yet')
    return hello
  }

  /** The tree, whole or what is newer than the runner's copy. */
  async push(base: number | null = null): Promise<void> {
    const transfer = this.#nextTransfer++
    const rpc = this.rpc
    if (rpc === null) throw new Error('not connected')
    await rpc.call('transfer/begin', { transfer, epoch: this.tree.epoch, base, revision: this.tree.revision })
    const { frames, entries } = this.tree.frames(transfer, base)
    const waiting = { seq: -1, wake: () => {} }
    this.#acks.set(`transfer:${transfer}`, waiting)
    for (const [seq, frame] of frames.entries()) {
      while (seq - waiting.seq > 4 && rpc.socket.readyState === 1) {
        await new Promise<void>((resolve) => {
          waiting.wake = resolve
          void rpc.closed.then(() => resolve())
        })
      }
      rpc.socket.send(frame)
    }
    await rpc.call('transfer/commit', { transfer, frames: frames.length, entries })
  }

  newKey(): string {
    return `step-${this.#nextKey++}`
  }

  async start(text: string, options: CallOptions = {}): Promise<{ key: string; state: string }> {
    const { kind = 'run', key = this.newKey(), cwd = '/workspace', env = {} } = options
    const { quietMs = 60_000, softMs = null, hardMs = 120_000 } = options
    const { epoch, revision } = this.tree
    if (!this.calls.has(key)) this.calls.set(key, { output: [], nextSeq: 0, outcome: null, tree: null, ends: 0 })
    const call = { key, kind, text, cwd, env, quietMs, softMs, hardMs, epoch, revision }
    const answer = (await this.rpc?.call('call/start', call)) as { state: string }
    return { key, state: answer.state }
  }

  async ended(key: string): Promise<{ outcome: Outcome; output: string; tree: Map<string, Node> }> {
    await this.until(() => this.calls.get(key)?.outcome != null)
    const call = this.calls.get(key)
    if (call?.outcome == null || call.tree === null) throw new Error('no outcome')
    return { outcome: call.outcome, output: this.outputOf(key).toString(), tree: call.tree }
  }

  async run(text: string, options: CallOptions = {}) {
    const { key } = await this.start(text, options)
    return this.ended(key)
  }

  outputOf(key: string): Buffer {
    return Buffer.concat(this.calls.get(key)?.output ?? [])
  }

  /** The connection is cut, as a network does. */
  cut(): void {
    this.rpc?.socket.terminate()
  }

  #changed(): void {
    for (const waiter of this.#waiters.splice(0)) waiter()
  }

  #ended(params: Record<string, unknown>): { revision: number; refused: never[] } {
    const key = String(params.key)
    const transfer = params.transfer === null ? null : Number(params.transfer)
    const call = this.calls.get(key)
    if (call === undefined) throw new Error(`an outcome of ${key}, which was not asked for`)
    call.ends += 1
    const revision = transfer === null ? this.tree.revision : this.tree.commit(transfer, null)
    if (call.outcome === null) {
      call.outcome = params.outcome as Outcome
      call.tree = new Map(this.tree.nodes)
    }
    this.onEnded(key)
    this.#changed()
    return { revision, refused: [] }
  }

  #binary(rpc: Rpc, frame: Buffer): void {
    if (frame.byteLength > 1024 * 1024) throw new Error('a frame that is too long')
    const headLength = frame.readUInt32BE(0)
    const head = JSON.parse(frame.subarray(4, 4 + headLength).toString())
    const bytes = frame.subarray(4 + headLength)
    if (head.t === 'files') this.tree.receive(head, bytes)
    else this.#output(head, bytes)
    if (!this.onFrame(head.t, head.seq)) return
    const stream = head.t === 'files' ? `transfer:${head.transfer}` : `output:${head.key}`
    rpc.notify('frame/ack', { stream, seq: head.seq })
    this.#changed()
  }

  #output({ key, seq }: { key: string; seq: number }, bytes: Buffer): void {
    const call = this.calls.get(key)
    if (call === undefined) throw new Error(`output of ${key}, which was not asked for`)
    if (seq > call.nextSeq) throw new Error(`output ${seq} of ${key} after ${call.nextSeq - 1}`)
    // Sent again after a reconnection.
    if (seq < call.nextSeq) return
    call.nextSeq += 1
    call.output.push(Buffer.from(bytes))
  }
}
