// One viewer of a conversation's terminal: its socket, the position up to which output was sent to it, and the position
// that it has acknowledged. The attachment holds what must survive hibernation.

import { z } from 'zod'
import { errorFields, log } from '../../../src/lib/log.ts'
import { TerminalSize } from '../../../src/runners/terminal-wire.ts'
import type { Goodbye } from './session-attachment.ts'

/** The tag of a viewer's socket. */
export const TERMINAL_TAG = 'terminal'

/** The largest frame that a viewer may send, in bytes. */
export const MAX_VIEWER_FRAME_BYTES = 64 * 1024
/** Unacknowledged bytes after which a viewer is closed if other viewers are faster. */
const MAX_BEHIND_BYTES = 1024 * 1024
const POSITION_BYTES = 8
/**
 * An acknowledgement of at least this many bytes does not count against the message limit, because the output bounds
 * the number of such messages.
 */
const LEAST_ACKED_BYTES = 1024

/** The viewer can connect again after this close. */
export const TOO_SLOW: Goodbye = { code: 4008, reason: 'too slow: connect again with what you have', farewell: false }
export const TOO_LONG: Goodbye = { code: 1009, reason: 'a frame that is too long', farewell: false }
export const NOT_TAKEN: Goodbye = { code: 4013, reason: 'more was typed than the shell takes', farewell: false }
export const TOO_MANY: Goodbye = { code: 1008, reason: 'too many messages', farewell: false }
export const NO_MESSAGE: Goodbye = { code: 1007, reason: 'a message that is none of the terminal', farewell: false }

const Attachment = z.object({
  kind: z.literal('terminal'),
  key: z.string().nullable(),
  until: z.number().nullable(),
  isReader: z.boolean(),
  size: TerminalSize.nullable(),
  /** The shell whose output the viewer has, up to `position`; null before the first output. */
  terminal: z.string().nullable(),
  position: z.number(),
})
export type ViewerAttachment = z.infer<typeof Attachment>

/** A text frame of a viewer; typed bytes are binary frames. */
export const ViewerMessage = z.discriminatedUnion('type', [
  TerminalSize.extend({ type: z.literal('resize') }),
  z.object({ type: z.literal('paste'), text: z.string() }),
  z.object({ type: z.literal('ack'), position: z.number().int().nonnegative() }),
  z.object({ type: z.literal('start') }),
])
export type ViewerMessage = z.infer<typeof ViewerMessage>

export class TerminalViewer {
  readonly socket: WebSocket
  #attachment: ViewerAttachment
  #acked: number

  constructor(socket: WebSocket, fresh?: ViewerAttachment) {
    this.socket = socket
    this.#attachment = fresh ?? Attachment.parse(socket.deserializeAttachment())
    this.#acked = this.#attachment.position
    if (fresh !== undefined) this.attach({})
  }

  get attachment(): Readonly<ViewerAttachment> {
    return this.#attachment
  }

  /** Bytes that were sent and not acknowledged. */
  get behind(): number {
    return this.#attachment.position - this.#acked
  }

  get isTooSlow(): boolean {
    return this.behind > MAX_BEHIND_BYTES
  }

  isOver(now: number): boolean {
    const { until } = this.#attachment
    return until !== null && until <= now
  }

  attach(changes: Partial<ViewerAttachment>): void {
    this.#attachment = { ...this.#attachment, ...changes }
    this.socket.serializeAttachment(this.#attachment)
  }

  /** From here on it gets the output of this shell. */
  begins(terminal: string, position: number): void {
    this.attach({ terminal, position })
    this.#acked = position
  }

  /**
   * The viewer has received everything up to `position`, but never more than was sent. False for an acknowledgement of
   * very little, which counts as a message.
   */
  acked(position: number): boolean {
    const known = Math.min(position, this.#attachment.position)
    const isAll = known === this.#attachment.position && known > this.#acked
    const isMuch = known - this.#acked >= LEAST_ACKED_BYTES
    this.#acked = Math.max(this.#acked, known)
    return isAll || isMuch
  }

  tell(message: Record<string, unknown>): void {
    this.#send(JSON.stringify(message))
  }

  /** Sends output up to `position`: eight bytes with the position, then the output. */
  show(bytes: Uint8Array, position: number): void {
    const frame = new Uint8Array(POSITION_BYTES + bytes.byteLength)
    new DataView(frame.buffer).setBigUint64(0, BigInt(position))
    frame.set(bytes, POSITION_BYTES)
    this.#send(frame)
    this.attach({ position })
  }

  end({ code, reason }: Goodbye): void {
    this.socket.close(code, reason.slice(0, 120))
  }

  #send(data: string | Uint8Array): void {
    try {
      this.socket.send(data)
    } catch (error) {
      // The socket has closed; the runtime will report it.
      log.debug('terminal.not_sent', errorFields(error))
    }
  }
}
