// JSON-RPC 2.0 over one WebSocket, for both ends. Incoming messages are validated against the wire's schemas before any
// handler sees them; a method without a handler is answered with an error. An answer may be late or never come: each
// call has a time limit.

import { z } from 'zod'
import { MAX_TEXT_BYTES, METHODS, type Method, type ParamsOf, RPC_ERRORS, WIRE_VERSION } from './wire.ts'

type Answered = { [M in Method]: (typeof METHODS)[M]['answered'] extends true ? M : never }[Method]
type Notification = Exclude<Method, Answered>

/** The handlers of this end. The result of a handler is the answer. */
export type Handlers = { [M in Method]?: (params: ParamsOf<M>) => unknown }

/** A refusal by the other side or by this one. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** The connection was lost, or no answer came in time: it is unknown whether the other side executed the call. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

const CALL_TIMEOUT_MS = 30_000

const Id = z.union([z.number(), z.string(), z.null()])
const Message = z.object({
  jsonrpc: z.literal('2.0'),
  id: Id.optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
})
type Message = z.infer<typeof Message>

const Versioned = z.object({ wire: z.number() })

type Waiting = { resolve(result: unknown): void; reject(error: Error): void; timer: ReturnType<typeof setTimeout> }

export class RpcPeer {
  readonly #send: (text: string) => void
  readonly #handlers: Handlers
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0
  #isClosed = false

  /** `send` may throw for a closed socket; the call then fails. */
  constructor(send: (text: string) => void, handlers: Handlers) {
    this.#send = send
    this.#handlers = handlers
  }

  /** Resolves with the validated answer; throws an `RpcError` for a refusal and `NoAnswer` when none came. */
  async call<M extends Answered, T>(
    method: M,
    params: ParamsOf<M>,
    answer: z.ZodType<T>,
    timeoutMs = CALL_TIMEOUT_MS,
  ): Promise<T> {
    const id = ++this.#lastId
    const result = new Promise<unknown>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id)
        reject(new NoAnswer(`${method}: no answer within ${timeoutMs / 1000} s`))
      }, timeoutMs)
      this.#waiting.set(id, { resolve, reject, timer })
      this.#post({ id, method, params })
    })
    const checked = answer.safeParse(await result)
    if (!checked.success) throw new RpcError(RPC_ERRORS.internal, `${method}: the answer does not fit the wire`)
    return checked.data
  }

  tell<M extends Notification>(method: M, params: ParamsOf<M>): void {
    this.#post({ method, params })
  }

  /** Processes a text frame. Never throws. */
  async receive(text: string): Promise<void> {
    const message = messageIn(text)
    if (message === null)
      return this.#refuse(null, new RpcError(RPC_ERRORS.invalidRequest, 'not a JSON-RPC 2.0 message'))
    const { id = null, method } = message
    if (method === undefined) return this.#settle(message)
    const isAsked = message.id !== undefined
    try {
      const result = await this.#run(method, message.params)
      if (isAsked) this.#post({ id, result: result ?? {} })
    } catch (error) {
      if (isAsked) this.#refuse(id, asRpcError(error))
    }
  }

  /** The socket is gone: all open calls fail. */
  close(why: string): void {
    this.#isClosed = true
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer)
      reject(new NoAnswer(why))
    }
    this.#waiting.clear()
  }

  async #run(method: string, params: unknown): Promise<unknown> {
    const handler = isMethod(method) ? this.#handlers[method] : undefined
    if (!isMethod(method) || handler === undefined) {
      throw new RpcError(RPC_ERRORS.methodNotFound, `no method ${method.slice(0, 100)} here`)
    }
    if (method.endsWith('/hello')) refuseOtherVersion(params)
    const checked = METHODS[method].params.safeParse(params ?? {})
    if (!checked.success) {
      const { path, message } = checked.error.issues[0] ?? { path: [], message: 'unreadable' }
      throw new RpcError(RPC_ERRORS.invalidParams, `${method}: ${path.map(String).join('.')}: ${message}`)
    }
    // The table of methods says that these are the handler's parameters.
    return (handler as (params: unknown) => unknown)(checked.data)
  }

  #settle({ id, result, error }: Message): void {
    const waiting = typeof id === 'number' ? this.#waiting.get(id) : undefined
    if (waiting === undefined || typeof id !== 'number') return
    this.#waiting.delete(id)
    clearTimeout(waiting.timer)
    if (error === undefined) waiting.resolve(result)
    else waiting.reject(new RpcError(error.code, error.message.slice(0, 2000), error.data))
  }

  #refuse(id: z.infer<typeof Id>, { code, message, data }: RpcError): void {
    this.#post({ id, error: { code, message, ...(data === undefined ? {} : { data }) } })
  }

  #post(message: object): void {
    if (this.#isClosed) throw new NoAnswer('the connection is closed')
    this.#send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }
}

/** Before the schema is checked, because another version may have another schema. */
function refuseOtherVersion(params: unknown): void {
  const said = Versioned.safeParse(params)
  if (!said.success || said.data.wire === WIRE_VERSION) return
  const text = `this service speaks version ${WIRE_VERSION} of the wire and the runner ${said.data.wire}: install the release that belongs to it`
  throw new RpcError(RPC_ERRORS.wrongVersion, text, { supported: [WIRE_VERSION] })
}

function messageIn(text: string): Message | null {
  if (text.length > MAX_TEXT_BYTES) return null
  try {
    return Message.safeParse(JSON.parse(text)).data ?? null
  } catch {
    // Not JSON: the answer is an error that says so.
    return null
  }
}

function asRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error
  return new RpcError(RPC_ERRORS.internal, error instanceof Error ? error.name : 'failed')
}

function isMethod(method: string): method is Method {
  return Object.hasOwn(METHODS, method)
}
