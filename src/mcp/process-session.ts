// A session with a tool server that is a program on a runner: a message is a line of JSON. The program lives longer
// than a session, and longer than this object: it is initialised once, and later sessions get the stored answer of
// that.

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { ProcessServer } from './remote-server.ts'

export type ProcessSession = {
  /** The program's answer to `initialize` in this life of the program; null before it. */
  readonly greeting: unknown
  /** The program was initialised and gave this answer. */
  greeted(greeting: unknown): void
  /** The request id of the tool call at the program; null without a call. */
  readonly callId: string | null
  /** Throws an `McpFailure` for a message that is too large, and when the runner is not there. */
  send(message: string): void
  /** Sends the call unless that was done before; then only its answer is awaited. */
  sendCall(message: string): void
  /** The answer to the call came. */
  answered(): void
  /** Receives every message of the program, including those for other sessions. */
  listen(receive: (message: string) => void): void
  /** Never resolves; rejects with an `McpFailure` when the program ends, or another runner takes over. */
  readonly ended: Promise<never>
  close(): void
}

export type ToolProcesses = {
  /**
   * Starts the program unless it runs. Throws an `McpFailure` when no program can run. `effect`: the key of the call
   * that will be made.
   */
  open(server: ProcessServer, effect: string | null): Promise<ProcessSession>
}

type Message = JSONRPCMessage & {
  id?: string | number
  method?: string
  result?: unknown
  params?: { [name: string]: unknown }
}

export class ProcessTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #session: ProcessSession
  /**
   * Other sessions may have open requests at the same program, and late answers to an earlier instance of this object
   * may arrive.
   */
  readonly #prefix = `${crypto.randomUUID()}:`
  #greeting: { id: string | number; answer: unknown } | null = null
  readonly #unanswered = new Set<string | number>()
  /** The client's request id of the call. */
  #call: string | number | null = null

  constructor(session: ProcessSession) {
    this.#session = session
  }

  async start(): Promise<void> {
    this.#session.listen((text) => this.#received(text))
  }

  async send(sent: JSONRPCMessage): Promise<void> {
    const message = sent as Message
    const { greeting } = this.#session
    if (message.method === 'initialize' && message.id !== undefined) {
      const { id } = message
      if (greeting !== null) return queueMicrotask(() => this.#deliver({ jsonrpc: '2.0', id, result: greeting }))
      this.#greeting = { id, answer: null }
    }
    if (message.method === 'notifications/initialized') {
      if (greeting !== null) return
      this.#session.send(JSON.stringify(message))
      return this.#session.greeted(this.#greeting?.answer)
    }
    const { callId } = this.#session
    if (message.method === 'tools/call' && message.id !== undefined && callId !== null) {
      this.#call = message.id
      this.#unanswered.add(message.id)
      return this.#session.sendCall(JSON.stringify({ ...message, id: callId }))
    }
    const outward = this.#outward(message)
    if (outward !== null) this.#session.send(JSON.stringify(outward))
  }

  async close(): Promise<void> {
    this.#session.close()
    this.onclose?.()
  }

  /** Requests get unique ids; answers to the program's own requests keep theirs. Null for a message that must not be sent. */
  #outward(message: Message): object | null {
    if (message.method === 'notifications/cancelled') return this.#cancelled(message)
    if (message.method === undefined || message.id === undefined) return message
    this.#unanswered.add(message.id)
    return { ...message, id: `${this.#prefix}${message.id}` }
  }

  /** The SDK's client also cancels requests that were answered long ago. */
  #cancelled(message: Message): object | null {
    const { requestId, ...params } = message.params ?? {}
    if (!this.#unanswered.has(Number(requestId))) return null
    const { callId } = this.#session
    const asked = callId !== null && requestId === this.#call ? callId : `${this.#prefix}${String(requestId)}`
    return { ...message, params: { ...params, requestId: asked } }
  }

  #received(text: string): void {
    for (const message of messagesIn(text)) {
      if (message.method !== undefined) this.#deliver(message)
      else if (message.id === this.#session.callId && this.#call !== null) this.#callAnswered(message, this.#call)
      else if (typeof message.id === 'string' && message.id.startsWith(this.#prefix)) this.#answered(message)
    }
  }

  /** The answer may arrive twice: it is repeated after a lost connection. */
  #callAnswered(message: Message, id: string | number): void {
    if (!this.#unanswered.delete(id)) return
    this.#session.answered()
    this.#deliver({ ...message, id })
  }

  #answered(message: Message): void {
    const id = Number(String(message.id).slice(this.#prefix.length))
    this.#unanswered.delete(id)
    if (this.#greeting?.id === id && 'result' in message) this.#greeting.answer = message.result
    this.#deliver({ ...message, id })
  }

  #deliver(message: object): void {
    this.onmessage?.(message as JSONRPCMessage)
  }
}

/**
 * Empty for text that is not a message: programs print other output, too. Older versions of the protocol send several
 * messages as one array.
 */
export function messagesIn(text: string): Message[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return []
  }
  const all = Array.isArray(parsed) ? parsed : [parsed]
  return all.filter((one): one is Message => typeof one === 'object' && one !== null && one.jsonrpc === '2.0')
}
