// Tool servers that communicate through standard input and output, one message per line, each in a sandbox like the
// shell's. The object starts and stops them; the end of one is reported, and it is started again only on the object's
// request.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { callIdIn, isAnswerTo, piecesOf, ServerMessages } from '../../src/runners/server-messages.ts'
import {
  MAX_SERVER_MESSAGE_BYTES,
  RPC_ERRORS,
  type ServerCallState,
  type ServerExited,
  type ServerMessage,
  type ServerQuery,
  type ServerStart,
} from '../../src/runners/wire.ts'
import { type Peer, RpcError } from './connect/peer.ts'
import type { Log } from './log.ts'
import type { Launch } from './sandbox/launch.ts'
import { killTree } from './session/processes.ts'

export type ToolServersDeps = {
  readonly launch: (program: Pick<ServerStart, 'command' | 'args' | 'env'>) => Launch
  readonly log: Log
  /** For tests without processes. */
  readonly startProgram?: ((launch: Launch) => ToolProgram) | undefined
}

/** The part of a process that tool servers need. */
export type ToolProgram = Pick<ChildProcessWithoutNullStreams, 'stdin' | 'stdout' | 'stderr' | 'pid' | 'on'>
type Running = { readonly child: ToolProgram; stderr: string }
/** The newest call of a tool: a conversation has one at a time, and queries no older one. */
type Call = { readonly id: string; readonly name: string; answer: string | null; end: ServerExited | null }
type Subscriber = { readonly bytes: number; readonly tell: (peer: Peer) => void }

const MAX_SERVERS = 16
/** The limit of bytes that wait for a connection, for the network, or for a server to read. */
const MAX_WAITING_BYTES = 2 * MAX_SERVER_MESSAGE_BYTES
const STDERR_CHARS = 8000

export class ToolServers {
  readonly #deps: ToolServersDeps
  readonly #running = new Map<string, Running>()
  readonly #waiting: Subscriber[] = []
  readonly #coming = new ServerMessages()
  #waitingBytes = 0
  /** Passed to the connection, but not sent yet. */
  #leavingBytes = 0
  #peer: Peer | null = null
  #call: Call | null = null

  constructor(deps: ToolServersDeps) {
    this.#deps = deps
  }

  get isAnyRunning(): boolean {
    return this.#running.size > 0
  }

  connect(peer: Peer): void {
    this.#peer = peer
    this.#coming.forget()
    for (const { tell } of this.#waiting.splice(0)) tell(peer)
    this.#waitingBytes = 0
    this.#goOn()
  }

  disconnect(): void {
    this.#peer = null
  }

  /** One with the same name is replaced, and its end is not reported. */
  start({ name, ...program }: ServerStart): void {
    this.stop(name)
    if (this.#running.size >= MAX_SERVERS) throw new RpcError(RPC_ERRORS.full, `at most ${MAX_SERVERS} tool servers`)
    const launch = this.#deps.launch(program)
    const { command, args, env, cwd } = launch
    const stdio: ['pipe', 'pipe', 'pipe'] = ['pipe', 'pipe', 'pipe']
    const child = this.#deps.startProgram?.(launch) ?? spawn(command, args, { env, cwd, stdio })
    const server: Running = { child, stderr: '' }
    this.#running.set(name, server)
    this.#deps.log('server.started', { name })
    child.stdin.on('error', () => {
      // It does not read any more: its exit is handled elsewhere.
    })
    child.stderr.on('data', (chunk) => {
      server.stderr = (server.stderr + String(chunk)).slice(-STDERR_CHARS)
    })
    const lines = new Lines((line) => this.#said(name, server, line))
    child.stdout.on('data', (chunk) => lines.push(chunk))
    child.on('error', (error) => this.#ended(name, server, { code: null, signal: null, stderr: error.message }))
    child.on('close', (code, signal) => this.#ended(name, server, { code, signal, stderr: server.stderr }))
  }

  stop(name: string): void {
    const server = this.#running.get(name)
    this.#running.delete(name)
    this.#coming.forget(name)
    if (server !== undefined) this.#noteEnd({ name, code: null, signal: null, stderr: 'It was ended.' })
    if (server?.child.pid !== undefined) killTree(server.child.pid)
  }

  /** If there is no such server, the object is told, because it waits for an answer. */
  send(piece: ServerMessage): void {
    const { name } = piece
    const message = this.#coming.add(piece)
    const id = message === null ? null : callIdIn(message)
    if (id !== null) this.#call = { id, name, answer: null, end: null }
    const server = this.#running.get(name)
    if (server === undefined) this.#tellEnd(name, { code: null, signal: null, stderr: 'It does not run.' })
    if (server === undefined || message === null) return
    server.child.stdin.write(`${message.replaceAll('\n', ' ')}\n`)
    if (server.child.stdin.writableLength > MAX_WAITING_BYTES)
      this.#kill(server, 'The server does not read its messages.')
  }

  /** The result of a call; an answer is sent again, because the object may have been restarted when it arrived. */
  query({ name, id }: ServerQuery): ServerCallState {
    const call = this.#call
    if (call?.id !== id || call.name !== name) return { state: 'unknown', end: null }
    if (call.answer !== null) {
      this.#say(name, call.answer)
      return { state: 'answered', end: null }
    }
    return { state: call.end === null ? 'open' : 'ended', end: call.end }
  }

  end(): void {
    for (const name of [...this.#running.keys()]) this.stop(name)
  }

  #said(name: string, server: Running, line: string | null): void {
    if (this.#running.get(name) !== server) return
    if (line === null) this.#kill(server, `A message of more than ${MAX_SERVER_MESSAGE_BYTES} bytes.`)
    else if (line.trim() !== '') {
      const call = this.#call
      if (call?.name === name && call.answer === null && isAnswerTo(call.id, line)) call.answer = line
      this.#say(name, line)
      if (this.#isFull) server.child.stdout.pause()
    }
  }

  get #isFull(): boolean {
    return this.#waitingBytes + this.#leavingBytes > MAX_WAITING_BYTES
  }

  /** Resumes servers that were paused because of the limit. */
  #goOn(): void {
    if (this.#isFull) return
    for (const { child } of this.#running.values()) child.stdout.resume()
  }

  #say(name: string, line: string): void {
    this.#tell(Buffer.byteLength(line), (peer) => {
      for (const piece of piecesOf(name, line)) {
        const bytes = Buffer.byteLength(piece.message)
        this.#leavingBytes += bytes
        peer.notify('server/message', piece, () => {
          this.#leavingBytes -= bytes
          this.#goOn()
        })
      }
    })
  }

  #kill(server: Running, why: string): void {
    server.stderr = `${server.stderr}\n${why}`.slice(-STDERR_CHARS)
    if (server.child.pid !== undefined) killTree(server.child.pid)
  }

  #ended(name: string, server: Running, end: Omit<ServerExited, 'name'>): void {
    if (this.#running.get(name) !== server) return
    this.#running.delete(name)
    this.#deps.log('server.exited', { name, code: end.code, signal: end.signal })
    this.#tellEnd(name, end)
  }

  #tellEnd(name: string, how: Omit<ServerExited, 'name'>): void {
    const end = { name, ...how }
    this.#noteEnd(end)
    this.#tell(0, (peer) => peer.notify('server/exited', end))
  }

  #noteEnd(end: ServerExited): void {
    if (this.#call?.name === end.name && this.#call.answer === null) this.#call.end ??= end
  }

  #tell(bytes: number, tell: (peer: Peer) => void): void {
    if (this.#peer !== null) {
      tell(this.#peer)
      return
    }
    this.#waiting.push({ bytes, tell })
    this.#waitingBytes += bytes
  }
}

/** Whole lines of text; null for one that is too long. */
export class Lines {
  readonly #onLine: (line: string | null) => void
  #parts: Buffer[] = []
  #bytes = 0

  constructor(onLine: (line: string | null) => void) {
    this.#onLine = onLine
  }

  push(chunk: Buffer): void {
    let rest = chunk
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      this.#add(rest.subarray(0, end))
      this.#onLine(this.#bytes > MAX_SERVER_MESSAGE_BYTES ? null : Buffer.concat(this.#parts).toString('utf8'))
      this.#parts = []
      this.#bytes = 0
      rest = rest.subarray(end + 1)
    }
    this.#add(rest)
    if (this.#bytes > MAX_SERVER_MESSAGE_BYTES && this.#parts.length > 0) {
      this.#parts = []
      this.#onLine(null)
    }
  }

  #add(part: Buffer): void {
    if (part.byteLength === 0) return
    this.#bytes += part.byteLength
    if (this.#bytes <= MAX_SERVER_MESSAGE_BYTES) this.#parts.push(part)
  }
}
