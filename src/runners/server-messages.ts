// Messages of tool servers on the wire: long ones are sent in pieces, in order, and joined on the other side.

import { MAX_SERVER_MESSAGE_BYTES, SERVER_PIECE_CHARS, type ServerMessage } from './wire.ts'

const CALL_PREFIX = 'effect:'

/** The request id of a tool call: the same after a restart of the service, and unique. */
export const callIdOf = (key: string): string => `${CALL_PREFIX}${key}`

/** The id of the call in a message; null for any other message. */
export function callIdIn(message: string): string | null {
  if (!message.includes(CALL_PREFIX)) return null
  const { id, method } = headOf(message)
  return method !== undefined && typeof id === 'string' && id.startsWith(CALL_PREFIX) ? id : null
}

/** Whether a message of a program, or one in a batch, answers the call. */
export function isAnswerTo(id: string, message: string): boolean {
  if (!message.includes(id)) return false
  const parsed = parsedOf(message)
  return (Array.isArray(parsed) ? parsed : [parsed]).some(
    (one) => headIn(one).id === id && headIn(one).method === undefined,
  )
}

type Head = { id?: unknown; method?: unknown }
const headIn = (value: unknown): Head => (typeof value === 'object' && value !== null ? value : {})
const headOf = (message: string): Head => headIn(parsedOf(message))

function parsedOf(message: string): unknown {
  try {
    return JSON.parse(message)
  } catch {
    // Programs print other text, too.
    return null
  }
}

/** At least one piece. A surrogate pair may be split, because the pieces are joined before they are read. */
export function* piecesOf(name: string, message: string): Generator<ServerMessage> {
  for (let at = 0; at === 0 || at < message.length; at += SERVER_PIECE_CHARS) {
    const more = at + SERVER_PIECE_CHARS < message.length
    yield { name, message: message.slice(at, at + SERVER_PIECE_CHARS), more }
  }
}

export class ServerMessages {
  readonly #begun = new Map<string, string>()

  /**
   * The whole message, or null while pieces are missing. A message that is too long is dropped; at its end the result
   * is an empty text.
   */
  add({ name, message, more }: ServerMessage): string | null {
    const before = this.#begun.get(name) ?? ''
    const whole = before.length > MAX_SERVER_MESSAGE_BYTES ? before : before + message
    if (more) this.#begun.set(name, whole)
    else this.#begun.delete(name)
    if (more) return null
    return whole.length > MAX_SERVER_MESSAGE_BYTES ? '' : whole
  }

  /** Another server, or another connection: received pieces are dropped. */
  forget(name?: string): void {
    if (name === undefined) this.#begun.clear()
    else this.#begun.delete(name)
  }
}
