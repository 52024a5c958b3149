// One person who looks at a conversation's terminal: the socket, how far it was sent the output, and how far it has it. The
// attachment holds what must survive hibernation.

import { z } from 'zod'
import { errorFields, log } from '../../../src/lib/log.ts'
import { TerminalSize } from '../../../src/runners/terminal-wire.ts'
import type { Goodbye } from './session-attachment.ts'

/** The tag of a viewer's socket. */
export const TERMINAL_TAG = 'terminal'

/** Bytes of a frame that a viewer sends. */
export const MAX_VIEWER_FRAME_BYTES = 64 * 1024
/** Bytes that a viewer may have been sent and not acknowledged, while others go on. */
const MAX_BEHIND_BYTES = 1024 * 1024
const POSITION_BYTES = 8
/** An acknowledgement of so much is no message too many: there are no more of them than there was output. */
const LEAST_ACKED_BYTES = 1024

/** A close for a reason that the viewer can do something about. */
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
  /** The shell whose output it has, up to this byte; null before the first. */
  terminal: z.string().nullable(),
  position: z.number(),
})
export type ViewerAttachment = z.infer<typeof Attachment>

/** What a viewer says, as text; what it types is bytes. */
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

  /** Bytes that it was sent and does not say it has. */
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

  /** It has everything up to there. What it was not sent it cannot have. False for what says next to nothing. */
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

  /** Output up to `position`: eight bytes of it, then the bytes. */
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
      // It has closed, and the runtime is about to say so.
      log.debug('terminal.not_sent', errorFields(error))
    }
  }
}
