// Tool servers of a stand-in runner: a test defines how a program handles each message.

import { piecesOf, ServerMessages } from '../../src/runners/server-messages.ts'
import type { ServerMessage } from '../../src/runners/wire.ts'

type Json = Record<string, unknown>
export type Line = { send(message: Json): void }
export type Message = { id?: unknown; method?: string; params?: Json; result?: unknown; error?: unknown }
/** Called with each message and a function that prints lines. */
export type Program = (message: Message, print: (line: unknown) => void) => void

export class StandInPrograms {
  readonly started: Json[] = []
  readonly stopped: string[] = []
  /** Everything that the service sent to all programs. */
  readonly heard: Message[] = []
  program: Program = () => {}
  /** Drops messages until a program is started; `missed` counts them. */
  isDeaf = false
  missed = 0
  /** The reason why no program can be started. */
  refusal: string | null = null
  readonly #coming = new ServerMessages()
  readonly #answers = new Map<unknown, { name: string; said: unknown }>()

  asked(method: string, params: Json, line: Line): unknown {
    if (method === 'server/start') {
      if (this.refusal !== null) return { error: { code: -32002, message: this.refusal } }
      this.started.push(params)
      this.isDeaf = false
    } else if (method === 'server/stop') this.stopped.push(String(params.name))
    else if (method === 'server/query') return this.#query(params, line)
    else this.#received(params as ServerMessage, line)
    return {}
  }

  /** As in the real runner: a request stays open until it is answered, and a repeated request gets the same answer. */
  #query({ id }: Json, line: Line): unknown {
    const answer = this.#answers.get(id)
    if (answer !== undefined) this.print(line, answer.name, answer.said)
    const isHeard = this.heard.some((message) => message.id === id)
    return { state: answer !== undefined ? 'answered' : isHeard ? 'open' : 'unknown', end: null }
  }

  end(line: Line, { name, code = null, stderr = '' }: { name: string; code?: number | null; stderr?: string }): void {
    line.send({ jsonrpc: '2.0', method: 'server/exited', params: { name, code, signal: null, stderr } })
  }

  print(line: Line, name: string, said: unknown): void {
    if (typeof said === 'object' && said !== null && 'id' in said && !('method' in said))
      this.#answers.set(said.id, { name, said })
    const text = typeof said === 'string' ? said : JSON.stringify(said)
    for (const params of piecesOf(name, text)) line.send({ jsonrpc: '2.0', method: 'server/message', params })
  }

  #received(piece: ServerMessage, line: Line): void {
    if (this.isDeaf) {
      this.missed += 1
      return
    }
    const text = this.#coming.add(piece)
    if (text === null) return
    const message = JSON.parse(text) as Message
    this.heard.push(message)
    this.program(message, (said) => this.print(line, piece.name, said))
  }
}

/** A program with these tools; its answers contain a counter for the lifetime of the program. */
export function countingProgram(answers: (count: number, args: Json) => unknown, tools: readonly string[] = ['count']) {
  let count = 0
  const program: Program = ({ id, method, params }, print) => {
    if (id === undefined) return
    const answer = (result: unknown) => print({ jsonrpc: '2.0', id, result })
    if (method === 'initialize') {
      count = 0
      const { protocolVersion } = params ?? {}
      answer({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'counter', version: '1' } })
    } else if (method === 'tools/list')
      answer({ tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })) })
    else if (method === 'tools/call') {
      count += 1
      const result = answers(count, (params?.arguments ?? {}) as Json)
      if (result !== undefined) answer(result)
    }
  }
  return program
}

export const text = (said: string) => ({ content: [{ type: 'text', text: said }] })
