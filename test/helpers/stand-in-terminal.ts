// A shell on a stand-in runner, and its viewers.

import type { Client } from './app.ts'
import type { Chat } from './conversation.ts'
import { lentConversation } from './lent-conversation.ts'
import type { Line } from './stand-in-runner.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** A shell of a runner that follows the protocol. */
export class Shell {
  id = 'shell-1'
  text = ''
  from = 0
  reason = ''
  stream = 0
  sent = 0
  seq = 0
  line: Line | null = null
  readonly opens: Record<string, unknown>[] = []
  readonly sizes: string[] = []
  closes = 0
  typed = ''

  asked(method: string, params: Record<string, unknown>, line: Line): unknown {
    if (method === 'terminal/close') this.closes += 1
    if (method === 'terminal/resize') this.sizes.push(`${params.cols}x${params.rows}`)
    if (method !== 'terminal/open') return {}
    this.opens.push(params)
    if (this.id === '' && params.starts === true) this.begin(`shell-${this.opens.length}`)
    if (this.id === '') return { terminal: null, from: 0, to: 0, reason: this.reason }
    Object.assign(this, { stream: params.stream, line, sent: this.from, seq: 0 })
    setTimeout(() => this.pump(), 0)
    return { terminal: this.id, from: this.from, to: encoder.encode(this.text).length, reason: '' }
  }

  begin(id: string): void {
    Object.assign(this, { id, text: '', from: 0, sent: 0 })
  }

  pump(): void {
    const rest = this.text.slice(this.sent)
    this.sent = this.text.length
    for (let at = 0; at < rest.length; at += 32_768) this.frame(rest.slice(at, at + 32_768))
  }

  frame(text: string, end = false, seq = this.seq++): void {
    this.line?.sendFrame({ t: 'terminal', stream: this.stream, seq, end }, encoder.encode(text))
  }

  print(text: string): void {
    this.text += text
    if (this.line !== null) this.pump()
  }

  end(reason: string): void {
    this.id = ''
    this.reason = reason
    this.frame('', true)
    this.line?.send({ jsonrpc: '2.0', method: 'terminal/ended', params: { stream: this.stream, reason } })
  }
}

/** A conversation whose runner has a shell. */
export async function shownShell() {
  const lent = await lentConversation(() => ({ output: 'x' }))
  const shell = new Shell()
  lent.runner.ports = (method, params, line) => shell.asked(method, params, line)
  lent.runner.typed = (stream, seq, bytes, line) => {
    shell.typed += decoder.decode(bytes)
    line.send({ jsonrpc: '2.0', method: 'frame/ack', params: { stream: `terminal:${stream}`, seq } })
  }
  return { ...lent, shell, look: (query = '', by: Client = lent.owner) => look(lent.chat, query, by) }
}

export type Viewer = Awaited<ReturnType<typeof look>>

async function look(chat: Chat, query: string, by: Client) {
  const answer = await by.ask(`${chat.path}/terminal?${query}`, { headers: { upgrade: 'websocket' } })
  const socket = answer.webSocket
  if (socket === null) throw new Error(`no socket: ${answer.status} ${await answer.text()}`)
  socket.binaryType = 'arraybuffer'
  const viewer = {
    text: '',
    position: -1,
    said: [] as Record<string, unknown>[],
    closed: null as { code: number; reason: string } | null,
    acks: true,
    frames: 0,
    send: (data: string | Uint8Array) => socket.send(data),
    say: (message: Record<string, unknown>) => socket.send(JSON.stringify(message)),
    close: () => socket.close(1000, 'done'),
    last: (type: string) => viewer.said.filter((one) => one.type === type).at(-1),
  }
  socket.addEventListener('close', ({ code, reason }) => {
    viewer.closed = { code, reason }
  })
  socket.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') {
      viewer.said.push(JSON.parse(data))
      return
    }
    const bytes = new Uint8Array(data as ArrayBuffer)
    viewer.frames += 1
    viewer.position = Number(new DataView(bytes.buffer).getBigUint64(0))
    viewer.text += decoder.decode(bytes.subarray(8))
    if (viewer.acks) viewer.say({ type: 'ack', position: viewer.position })
  })
  socket.accept()
  return viewer
}
