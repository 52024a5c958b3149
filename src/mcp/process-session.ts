// A conversation with a tool server that is a program on a runner: a message is a line of JSON. The program lives longer than
// any of these conversations, and longer than this object: it is initialised once, and who comes later gets the answer that it
// gave then.

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { ProcessServer } from './remote-server.ts'

export type ProcessSession = {
  /** The answer to `initialize` that the program gave in this life of its; null before. */
  readonly greeting: unknown
  /** The program knows that it is initialised. */
  greeted(greeting: unknown): void
  /** The id under which the program is asked for the call of a tool; null where no call is made. */
  readonly callId: string | null
  /** Throws an `McpFailure` for a message that is too large, and when the runner is not there. */
  send(message: string): void
  /** Asks for the call, unless that was done before: then its answer is waited for. */
  sendCall(message: string): void
  /** The answer to the call came. */
  answered(): void
  /** Gets every message of the program, those for others included. */
  listen(receive: (message: string) => void): void
  /** Never resolves; rejects with an `McpFailure` when the program ends, or its runner is another one. */
  readonly ended: Promise<never>
  close(): void
}

export type ToolProcesses = {
  /** The program is started unless it runs. Throws an `McpFailure` where none can run. `effect`: the key of the call that is made. */
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
  /** Others may have questions open with the same program, and answers to those of an earlier life of this object may come. */
  readonly #prefix = `${crypto.randomUUID()}:`
  #greeting: { id: string | number; answer: unknown } | null = null
  readonly #unanswered = new Set<string | number>()
  /** Under which id the client asked for the call. */
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

  /** Questions get ids that nobody else has; answers to the program's own keep theirs. Null for what is not to be sent. */
  #outward(message: Message): object | null {
    if (message.method === 'notifications/cancelled') return this.#cancelled(message)
    if (message.method === undefined || message.id === undefined) return message
    this.#unanswered.add(message.id)
    return { ...message, id: `${this.#prefix}${message.id}` }
  }

  /** The SDK's client also cancels what was answered long ago. */
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

  /** It may come twice: told again after a lost connection. */
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

/** None for what is no message: programs print more than they should. Older versions of the protocol send several as one array. */
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
