// The plain protocol: JSON text frames. The client sends an action with an optional `ref`, or a ping; the server sends
// acknowledgements and errors with the same `ref`. docs/events.md describes the frames.

import { z } from 'zod'
import { ClientAction, fromClient } from '../../../src/agent/actions.ts'
import type { ActionEvent, StoredEvent } from '../../../src/agent/events.ts'
import { bytesOf, type SocketProtocol } from './socket-protocol.ts'

/** A socket that was silent for this long gets a `check`. */
export const CHECK_INTERVAL_MS = 10 * 60_000

/** Large, because messages contain images. */
const MAX_FRAME_BYTES = 4 * 1024 * 1024

const Ref = z.string().min(1).max(200)

export const plain: SocketProtocol = {
  greeting: () => [],
  live: (events) => [eventsFrame(events)],
  replayed: (events) => [eventsFrame(events)],
  ready: (lastId) => [JSON.stringify({ type: 'ready', last_event_id: lastId })],
  announcement: ({ type: level, ...rest }) => [JSON.stringify({ type: 'status', level, ...rest })],
  probe: () => '{"type":"check"}',
  farewell: (reason) => [JSON.stringify({ type: 'closing', reason })],
}

/** The stored texts are sent unchanged, so a frame and a page contain the same bytes. */
function eventsFrame(events: readonly StoredEvent[]): string {
  return `{"type":"events","events":[${events.map(({ text }) => text).join(',')}]}`
}

export type PlainFrame =
  | { kind: 'ping' }
  | { kind: 'check' }
  | { kind: 'action'; event: ActionEvent; ref: string | null }
  | { kind: 'invalid'; answer: { type: 'error'; ref?: string; message: string; detail?: string[] } }

export function readPlainFrame(data: string | ArrayBuffer): PlainFrame {
  if (typeof data !== 'string') return refuse('Binary frames are not part of this protocol; send JSON as text')
  if (bytesOf(data) > MAX_FRAME_BYTES) return refuse(`A frame holds at most ${MAX_FRAME_BYTES} bytes`)
  const frame = parseObject(data)
  if (frame === null) return refuse('A frame must be a JSON object')
  if (frame.type === 'ping') return { kind: 'ping' }
  if (frame.type === 'check') return { kind: 'check' }
  const { ref, ...action } = frame
  const known = Ref.safeParse(ref)
  if (ref !== undefined && !known.success) return refuse('ref must be a text of 1 to 200 characters')
  const parsed = ClientAction.safeParse(action)
  if (parsed.success) return { kind: 'action', event: fromClient(parsed.data), ref: known.data ?? null }
  const detail = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'frame'}: ${issue.message}`)
  return refuse('Not an action that a client may send', { ...(known.data ? { ref: known.data } : {}), detail })
}

function refuse(message: string, more: { ref?: string; detail?: string[] } = {}): PlainFrame {
  return { kind: 'invalid', answer: { type: 'error', message, ...more } }
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    // Not JSON: the error is the same as for a frame that is not an object.
    return null
  }
}
