import type { WebSocket } from 'ws'

export type Answer = (params: Record<string, unknown>) => unknown
type Pending = { resolve: (value: unknown) => void; reject: (error: Error) => void }

export class RpcFailure extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** JSON-RPC 2.0 over one socket, as small as a test needs it. */
export class Rpc {
  readonly socket: WebSocket
  readonly #methods: Readonly<Record<string, Answer>>
  readonly #pending = new Map<number, Pending>()
  readonly closed: Promise<{ code: number; reason: string }>
  #nextId = 1

  constructor(
    socket: WebSocket,
    methods: Readonly<Record<string, Answer>>,
    onBinary: (frame: Buffer) => void = () => {},
  ) {
    this.socket = socket
    this.#methods = methods
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        for (const { reject } of this.#pending.values()) reject(new Error('the socket closed'))
        resolve({ code, reason: reason.toString() })
      })
    })
    socket.on('error', () => {})
    socket.on('message', (data, isBinary) => {
      if (isBinary) onBinary(data as Buffer)
      else if (String(data) === '{"type":"ping"}') socket.send('{"type":"pong"}')
      else this.#text(JSON.parse(String(data)))
    })
  }

  call(method: string, params: unknown): Promise<unknown> {
    if (this.socket.readyState !== 1) return Promise.reject(new Error('the socket is closed'))
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    })
  }

  notify(method: string, params: unknown): void {
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', method, params }))
  }

  #text(message: Record<string, unknown>): void {
    const { id, method } = message
    if (typeof method !== 'string') {
      const pending = this.#pending.get(Number(id))
      this.#pending.delete(Number(id))
      const error = message.error as { code: number; message: string } | undefined
      if (error === undefined) pending?.resolve(message.result)
      else pending?.reject(new RpcFailure(error.code, error.message))
      return
    }
    const answer = this.#methods[method]
    if (answer === undefined) throw new Error(`the runner called ${method}`)
    const result = new Promise((resolve) => resolve(answer(message.params as Record<string, unknown>)))
    if (id === undefined) return
    result.then(
      (value) => this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: value ?? {} })),
      (error) =>
        this.socket.send(
          JSON.stringify({ jsonrpc: '2.0', id, error: { code: error.code ?? -32603, message: error.message } }),
        ),
    )
  }
}
