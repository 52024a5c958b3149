// A runner for tests of the service: it implements the protocol independently, keeps a copy of the workspace in memory
// and answers calls as the test defines.

import { client, request } from './app.ts'
import { StandInPrograms } from './stand-in-programs.ts'

export type Entry = {
  kind: 'file' | 'directory' | 'symlink'
  text?: string
  target?: string
  mode?: number
  mtime?: number
}
export type Tree = Map<string, Entry>
export type Started = Record<'key' | 'kind' | 'text' | 'cwd', string> &
  Record<'revision' | 'quietMs' | 'softMs', number> & { env: Record<string, string> }

/** The effect of a call: changes the tree and returns its outcome. Without an outcome it runs until `finish`. */
export type Behaviour = (call: Started, tree: Tree) => Answer | null
export type Answer = {
  output?: string
  exitCode?: number
  cwd?: string
  state?: string
  remarks?: string[]
  left?: string[]
}

type Json = Record<string, unknown>
type Piece = { path: string; kind: string; length?: number; offset?: number; target?: string; mode?: number }
type Head = { t: string; transfer?: number; stream?: number; seq: number; key?: string; entries?: Piece[] }

const NO_ROOM = { error: { code: -32005, message: 'The disk of the runner takes nothing more (ENOSPC).' } }
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** One socket with JSON-RPC on it. */
export class Line {
  readonly frames: { head: Head; bytes: Uint8Array }[] = []
  closed: { code: number; reason: string } | null = null
  /** Messages of the runner, answers and frames among them. */
  sent = 0
  /** Responses to messages without an id. */
  readonly errors: { code: number }[] = []
  onFrame: (head: Head, bytes: Uint8Array) => void = () => {}
  readonly #ws: WebSocket
  readonly #answers = new Map<number, (message: Json) => void>()
  #last = 0

  constructor(response: Response, take: (method: string, params: Json) => unknown) {
    const ws = response.webSocket
    if (ws === null) throw new Error(`no socket: ${response.status}`)
    this.#ws = ws
    ws.binaryType = 'arraybuffer'
    ws.addEventListener('close', ({ code, reason }) => {
      this.closed = { code, reason }
    })
    ws.addEventListener('message', ({ data }) => {
      if (typeof data === 'string') void this.#text(JSON.parse(data) as Json, take)
      else this.#frame(new Uint8Array(data as ArrayBuffer))
    })
    ws.accept()
  }

  ask(method: string, params: Json): Promise<Json> {
    const id = ++this.#last
    this.send({ jsonrpc: '2.0', id, method, params })
    return new Promise((resolve) => this.#answers.set(id, resolve))
  }

  send(message: Json): void {
    this.sent += 1
    this.#ws.send(JSON.stringify(message))
  }

  sendFrame(head: Json, bytes: Uint8Array = new Uint8Array()): void {
    const text = encoder.encode(JSON.stringify(head))
    const frame = new Uint8Array(4 + text.length + bytes.length)
    new DataView(frame.buffer).setUint32(0, text.length)
    frame.set(text, 4)
    frame.set(bytes, 4 + text.length)
    this.sent += 1
    this.#ws.send(frame)
  }

  sendRaw(data: string | Uint8Array): void {
    this.#ws.send(data)
  }

  close(): void {
    this.#ws.close(1000, 'the test ends it')
  }

  async #text(message: Json, take: (method: string, params: Json) => unknown): Promise<void> {
    const { id, method, params } = message
    if (typeof method !== 'string') {
      if (id === null && isError(message)) this.errors.push(message.error as { code: number })
      const waiting = this.#answers.get(Number(id))
      this.#answers.delete(Number(id))
      waiting?.(message)
      return
    }
    const result = await take(method, (params ?? {}) as Json)
    if (id !== undefined) this.send({ jsonrpc: '2.0', id, ...(isError(result) ? result : { result: result ?? {} }) })
  }

  #frame(data: Uint8Array): void {
    const length = new DataView(data.buffer, data.byteOffset).getUint32(0)
    const head = JSON.parse(decoder.decode(data.subarray(4, 4 + length))) as Head
    const bytes = data.slice(4 + length)
    this.frames.push({ head, bytes })
    this.onFrame(head, bytes)
  }
}

const isError = (value: unknown): value is { error: Json } =>
  typeof value === 'object' && value !== null && 'error' in value

export class StandInRunner {
  readonly id: string
  readonly started: Started[] = []
  readonly tree: Tree = new Map()
  readonly opened: Json[] = []
  readonly closings: Json[] = []
  readonly programs = new StandInPrograms()
  /** Its answers about ports and its terminal, and the terminal's input. */
  ports: (method: string, params: Json, line: Line) => unknown = () => ({ error: { code: -32601, message: 'none' } })
  typed: (stream: number, seq: number, bytes: Uint8Array, line: Line) => void = () => {}
  /** Changes with each restart of the runner. */
  life = 'one'
  readonly stopped: string[] = []
  /** The service's acknowledgements: stream and number. */
  readonly acks: string[] = []
  /** Transfers from the service: whether each had the whole tree, and its number of entries. */
  readonly transfers: { whole: boolean; entries: number }[] = []
  pool: Line | null = null
  line: Line | null = null
  behaviour: Behaviour
  /** Does not connect until the test requests it. */
  isWilling = true
  /** Opens the conversation's socket before it answers the pool, as can happen with low latency. */
  isHasty = false
  /** Knows of every call only that it was started, as after a crash during the command. */
  forgets = false
  isFull = false
  /** Its protocol version, and the error of its clock. */
  wire = 1
  clockOffMs = 0
  /** Ahead: what is not sent yet as well. */
  acknowledges: 'what came' | 'ahead' = 'what came'
  state: { epoch: string; revision: number } | null = null
  welcome: Json | null = null
  readonly #key: string | null
  readonly #running = new Map<string, 'running' | 'ended'>()
  readonly #ends = new Map<string, Json>()
  readonly #seqs = new Map<string, number>()
  readonly #description: Json
  #up = 0
  #sent: Tree = new Map()

  constructor(key: string | null, behaviour: Behaviour, description: Json = {}) {
    this.#key = key
    this.behaviour = behaviour
    this.id = crypto.randomUUID().replaceAll('-', '')
    this.#description = {
      id: this.id,
      name: 'stand-in',
      labels: ['linux'],
      version: '0.0.0',
      os: 'linux',
      arch: 'x64',
      capacity: 2,
      isolation: 'none',
      network: 'all',
      tools: [{ name: 'bash', version: '5.2' }],
      ...description,
    }
  }

  async connect(holds: string[] = []): Promise<Json> {
    const headers = { upgrade: 'websocket', ...(this.#key === null ? {} : { authorization: `Bearer ${this.#key}` }) }
    const response = await request('/api/runners/socket', { headers })
    this.pool = new Line(response, (method, params) => this.#told(method, params))
    const [runner, clock] = [this.#description, Date.now() + this.clockOffMs]
    return this.pool.ask('runner/hello', { wire: this.wire, life: this.life, runner, holds, clock })
  }

  /** Opens the conversation's socket again, as after a lost connection. */
  async reconnect(): Promise<void> {
    await this.#join(this.opened.at(-1) ?? {})
  }

  /** As if the response to the transfer of this path had been lost. */
  forgetSent(path: string): void {
    this.#sent.delete(path)
  }

  output(key: string, text: string): void {
    const seq = this.#seqs.get(key) ?? 0
    this.#seqs.set(key, seq + 1)
    this.line?.sendFrame({ t: 'output', key, seq }, encoder.encode(text))
  }

  /** Ends the call and sends the changes of the tree with it. Resolves with the service's response. */
  async finish(
    key: string,
    { output = '', exitCode = 0, cwd = '/workspace', state = 'ended', remarks = [], left = [] }: Answer,
  ): Promise<Json> {
    if (output !== '') this.output(key, output)
    this.#running.set(key, 'ended')
    const transfer = await this.sendUp(false)
    const outcome = {
      state,
      text: '',
      exitCode,
      cwd,
      user: 'agent',
      host: 'sandbox',
      interpreter: '/usr/bin/python3',
      outputBytes: 0,
      remarks,
      left,
    }
    const ended = { key, outcome, transfer }
    this.#ends.set(key, ended)
    return this.#tellEnd(key)
  }

  /** Sends the changes of the tree; returns the number of the transfer, or null if there are none. */
  async sendUp(commits: boolean): Promise<number | null> {
    const entries: Json[] = []
    const parts: Uint8Array[] = []
    for (const path of this.#sent.keys()) if (!this.tree.has(path)) entries.push({ path, kind: 'gone' })
    for (const [path, entry] of this.tree) {
      if (JSON.stringify(this.#sent.get(path)) === JSON.stringify(entry)) continue
      const { kind, text = '', target, mtime = 1_700_000_000_000 } = entry
      const { mode = kind === 'directory' ? 0o755 : 0o644 } = entry
      const bytes = encoder.encode(text)
      if (kind === 'file') {
        entries.push({
          path,
          kind,
          mode,
          mtime,
          size: bytes.length,
          offset: 0,
          length: bytes.length,
        })
        parts.push(bytes)
      } else entries.push(kind === 'symlink' ? { path, kind, target } : { path, kind, mode })
    }
    if (entries.length === 0) return null
    const transfer = ++this.#up
    const { epoch = '', revision = 0 } = this.state ?? {}
    await this.line?.ask('transfer/begin', { transfer, epoch, base: revision, revision: revision + 1 })
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
    let at = 0
    for (const part of parts) {
      all.set(part, at)
      at += part.length
    }
    this.line?.sendFrame({ t: 'files', transfer, seq: 0, entries }, all)
    this.#sent = new Map(this.tree)
    if (commits) {
      const answer = await this.line?.ask('transfer/commit', { transfer, frames: 1, entries: entries.length })
      this.#learn(answer)
    }
    return transfer
  }

  async #tellEnd(key: string): Promise<Json> {
    const answer = (await this.line?.ask('call/ended', this.#ends.get(key) ?? {})) ?? {}
    if (answer.error === undefined) {
      this.#running.delete(key)
      this.#ends.delete(key)
      this.#learn(answer)
    }
    return answer
  }

  #learn(answer: Json | undefined): void {
    const revision = (answer?.result as { revision?: number } | undefined)?.revision
    if (revision !== undefined && this.state !== null) this.state = { ...this.state, revision }
  }

  async #told(method: string, params: Json): Promise<unknown> {
    if (method === 'conversation/open') {
      this.opened.push(params)
      if (this.isFull) return NO_ROOM
      const joined = this.isWilling ? this.#join(params) : Promise.resolve()
      if (this.isHasty) await Promise.race([joined, scheduler.wait(200)])
    } else if (method === 'conversation/close') this.closings.push(params)
    else return { error: { code: -32601, message: 'no such method' } }
    return {}
  }

  async #join({ path, ticket }: Json): Promise<void> {
    const headers = { upgrade: 'websocket', authorization: `Bearer ${String(ticket)}` }
    const response = await request(String(path), { headers })
    const line = new Line(response, (method, params) => this.#asked(line, method, params))
    line.onFrame = (head, bytes) => this.#took(line, head, bytes)
    this.line = line
    const calls = [...this.#running].map(([key, state]) => ({ key, state }))
    const answer = await line.ask('session/hello', {
      wire: 1,
      runner: this.id,
      life: this.life,
      tree: this.state,
      calls,
    })
    this.welcome = (answer.result ?? null) as Json | null
    const stored = this.welcome?.stored as { revision: number } | null | undefined
    if (stored && this.state !== null) this.state = { ...this.state, revision: stored.revision }
    for (const key of this.#ends.keys()) await this.#tellEnd(key)
  }

  #pending: { transfer: number; epoch: string; whole: boolean; revision: number; entries: number } | null = null

  #asked(line: Line, method: string, params: Json): unknown {
    if (/^(port|terminal)\//.test(method)) return this.ports(method, params, line)
    if (method.startsWith('server/')) return this.programs.asked(method, params, line)
    if (method === 'transfer/begin') {
      const begun = params as { transfer: number; epoch: string; base: number | null; revision: number }
      if (begun.base !== null && begun.base !== this.state?.revision)
        return { error: { code: -32004, message: 'other' } }
      this.#pending = { ...begun, whole: begun.base === null, entries: 0 }
      if (begun.base === null) this.tree.clear()
      return {}
    }
    if (method === 'transfer/commit') {
      // As in the real runner: a new start has ended the earlier one.
      const pending = this.#pending
      if (pending?.transfer !== params.transfer || pending === null) return { error: { code: -32602, message: 'none' } }
      const { epoch, revision, whole, entries } = pending
      this.#pending = null
      this.state = this.isFull ? null : { epoch, revision }
      if (this.isFull) return NO_ROOM
      this.transfers.push({ whole, entries })
      this.#sent = new Map(this.tree)
      return {}
    }
    if (method === 'frame/ack') return this.acks.push(`${String(params.stream)} ${String(params.seq)}`)
    if (method === 'call/start') return this.#start(params as unknown as Started)
    if (method === 'call/query') {
      const state = this.forgets ? 'unknown' : (this.#running.get(String(params.key)) ?? 'unknown')
      return { state }
    }
    if (method === 'call/stop') {
      this.stopped.push(String(params.key))
      return {}
    }
    return { error: { code: -32601, message: 'no such method' } }
  }

  #start(call: Started): unknown {
    // Its journal only has the key of the call.
    if (this.forgets) return { state: 'unknown' }
    this.started.push(call)
    this.#running.set(call.key, 'running')
    const answer = this.behaviour(call, this.tree)
    if (answer !== null) void Promise.resolve().then(() => this.finish(call.key, answer))
    return { state: 'running' }
  }

  #took(line: Line, head: Head, bytes: Uint8Array): void {
    if (head.t === 'terminal') this.typed(head.stream ?? 0, head.seq, bytes, line)
    if (head.t !== 'files' || this.#pending === null) return
    let at = 0
    for (const { path, kind, length = 0, offset = 0, target, mode } of head.entries ?? []) {
      this.#pending.entries += 1
      if (kind === 'gone') {
        for (const known of [...this.tree.keys()]) {
          if (known === path || known.startsWith(`${path}/`)) this.tree.delete(known)
        }
      } else if (kind === 'file') {
        const text = decoder.decode(bytes.subarray(at, at + length))
        const before = offset === 0 ? '' : (this.tree.get(path)?.text ?? '')
        this.tree.set(path, { kind: 'file', text: before + text, mode: mode ?? 0o644 })
        at += length
      } else if (kind === 'symlink') this.tree.set(path, { kind, target: target ?? '' })
      else this.tree.set(path, { kind: 'directory', mode: mode ?? 0o755 })
    }
    const seq = this.acknowledges === 'ahead' ? head.seq + 100 : head.seq
    line.send({ jsonrpc: '2.0', method: 'frame/ack', params: { stream: `transfer:${head.transfer}`, seq } })
  }
}

/** A runner of the owner, connected with a new key. */
export async function joinedRunner(
  owner: string,
  behaviour: Behaviour,
  description: Json = {},
  holds: string[] = [],
): Promise<StandInRunner> {
  const { key } = await client({ owner, scopes: ['runner'] })
  const runner = new StandInRunner(key, behaviour, description)
  const hello = await runner.connect(holds)
  if (hello.error !== undefined) throw new Error(JSON.stringify(hello.error))
  return runner
}
