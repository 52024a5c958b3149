// Messages of tool servers on the wire: longer ones go in pieces, in order, and are one again on the other side.

import { MAX_SERVER_MESSAGE_BYTES, SERVER_PIECE_CHARS, type ServerMessage } from './wire.ts'

/** At least one piece. A pair of surrogates may be divided: the pieces are put together before anybody reads them. */
export function* piecesOf(name: string, message: string): Generator<ServerMessage> {
  for (let at = 0; at === 0 || at < message.length; at += SERVER_PIECE_CHARS) {
    const more = at + SERVER_PIECE_CHARS < message.length
    yield { name, message: message.slice(at, at + SERVER_PIECE_CHARS), more }
  }
}

export class ServerMessages {
  readonly #begun = new Map<string, string>()

  /** The whole message, or null while pieces are missing. One that is too long is dropped, and is an empty text at its end. */
  add({ name, message, more }: ServerMessage): string | null {
    const before = this.#begun.get(name) ?? ''
    const whole = before.length > MAX_SERVER_MESSAGE_BYTES ? before : before + message
    if (more) this.#begun.set(name, whole)
    else this.#begun.delete(name)
    if (more) return null
    return whole.length > MAX_SERVER_MESSAGE_BYTES ? '' : whole
  }

  /** The server is another one, or the connection: what had come is no beginning any more. */
  forget(name?: string): void {
    if (name === undefined) this.#begun.clear()
    else this.#begun.delete(name)
  }
}
