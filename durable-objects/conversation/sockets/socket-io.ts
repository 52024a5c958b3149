// Socket.IO protocol 5 over Engine.IO 4, websocket transport, default namespace, no binary packets: the protocol of existing
// clients.
// A packet is one text frame: the Engine.IO type (`0` open, `2` ping, `3` pong, `4` message), and in a message the
// Socket.IO packet (`0` connect, `1` disconnect, `2` event, `3` ack, `4` refusal).

import { decodePacket } from 'engine.io-parser'
import { Decoder, Encoder, type Packet, PacketType } from 'socket.io-parser'
import { z } from 'zod'
import { ClientAction, fromClient } from '../../../src/agent/actions.ts'
import type { ActionEvent, StoredEvent } from '../../../src/agent/events.ts'
import { bytesOf, type SocketProtocol } from './socket-protocol.ts'

export const PING_INTERVAL_MS = 25_000
export const PING_TIMEOUT_MS = 20_000
/** Large, because messages contain images. */
const MAX_PAYLOAD = 4 * 1024 * 1024

const NAMESPACE = '/'
/** The event names for actions; the second is the older one. */
const ACTION_EVENTS = new Set(['oh_user_action', 'oh_action'])
const FRAME_EVENT = 'oh_event'

/** Kinds that are sent live although their source is the environment; they are sent with the source `agent`. */
const SHOWN_OF_ENVIRONMENT = new Set([
  'action:think',
  'observation:run',
  'observation:agent_state_changed',
  'observation:recall',
  'observation:error',
])
/** The type and the number of binary frames that follow; the rest is built like that of an event. */
const BINARY_HEAD = /^[56](\d{1,3})-/
const NEVER_SENT = new Set(['action:null', 'observation:null'])
const STATE = 'observation:agent_state_changed'

export const socketIo: SocketProtocol = {
  greeting: (sid) => [
    `0${JSON.stringify({ sid, upgrades: [], pingTimeout: PING_TIMEOUT_MS, pingInterval: PING_INTERVAL_MS, maxPayload: MAX_PAYLOAD })}`,
  ],
  live: (events) => events.flatMap((event) => liveText(event) ?? []).map(eventFrame),
  replayed: (events, newestState) =>
    events.filter((event) => isReplayed(event, newestState)).map(({ text }) => eventFrame(text)),
  ready: () => [],
  announcement: (frame) => [eventFrame(JSON.stringify(frame))],
  probe: () => '2',
  farewell: () => [packet({ type: PacketType.DISCONNECT, nsp: NAMESPACE })],
}

/** The answers to a client that asks to join. */
export const accepted = (sid: string): string => packet({ type: PacketType.CONNECT, nsp: NAMESPACE, data: { sid } })

export const refused = (message: string, nsp = NAMESPACE): string =>
  packet({ type: PacketType.CONNECT_ERROR, nsp, data: { message } })

export const acknowledged = (id: number, answer: object): string =>
  packet({ type: PacketType.ACK, nsp: NAMESPACE, id, data: [answer] })

export type IoFrame =
  | { kind: 'join' }
  | { kind: 'foreign-namespace'; nsp: string }
  | { kind: 'leave' }
  | { kind: 'pong' }
  | { kind: 'ping'; data: string }
  | { kind: 'action'; event: ActionEvent; ack: number | null }
  | { kind: 'invalid'; message: string; ack: number | null }
  /** A packet that announces this many binary frames. */
  | { kind: 'binary'; attachments: number; ack: number | null }
  /** A binary frame. */
  | { kind: 'attachment' }

export function readIoFrame(data: string | ArrayBuffer): IoFrame {
  if (typeof data !== 'string') return { kind: 'attachment' }
  if (bytesOf(data) > MAX_PAYLOAD) return invalid(`A packet holds at most ${MAX_PAYLOAD} bytes`)
  const engine = decodePacket(data)
  if (engine.type === 'pong') return { kind: 'pong' }
  if (engine.type === 'ping') return { kind: 'ping', data: String(engine.data ?? '') }
  if (engine.type === 'close') return { kind: 'leave' }
  if (engine.type !== 'message' || typeof engine.data !== 'string') return invalid('Not an Engine.IO packet')
  const attachments = BINARY_HEAD.exec(engine.data)?.[1]
  const parsed = parse(attachments === undefined ? engine.data : engine.data.replace(BINARY_HEAD, '2'))
  if (parsed === null) return invalid('Not a Socket.IO packet that this server takes')
  if (attachments === undefined) return readPacket(parsed)
  return { kind: 'binary', attachments: Number(attachments), ack: parsed.id ?? null }
}

function readPacket({ type, nsp, data, id }: Packet): IoFrame {
  if (nsp !== NAMESPACE) return { kind: 'foreign-namespace', nsp }
  if (type === PacketType.CONNECT) return { kind: 'join' }
  if (type === PacketType.DISCONNECT) return { kind: 'leave' }
  // An acknowledgement that nobody requested: it must not be acknowledged in turn.
  const ack = type === PacketType.EVENT ? (id ?? null) : null
  const event = z.tuple([z.string(), z.unknown()]).rest(z.unknown()).safeParse(data)
  if (type !== PacketType.EVENT || !event.success) return invalid('Not an event with one object', ack)
  const [name, payload] = event.data
  if (!ACTION_EVENTS.has(name)) return invalid(`Unknown event "${name.slice(0, 100)}"`, ack)
  const action = ClientAction.safeParse(payload)
  if (action.success) return { kind: 'action', event: fromClient(action.data), ack }
  const faults = action.error.issues.map((issue) => `${issue.path.join('.') || 'action'}: ${issue.message}`)
  return invalid(`Not an action that a client may send (${faults.join('; ').slice(0, 500)})`, ack)
}

const invalid = (message: string, ack: number | null = null): IoFrame => ({ kind: 'invalid', message, ack })

/** Null for a text that is not a packet, and for a packet that waits for binary attachments. */
function parse(text: string): Packet | null {
  const decoder = new Decoder()
  let parsed: Packet | null = null
  decoder.on('decoded', (packet) => {
    parsed = packet
  })
  try {
    decoder.add(text)
  } catch {
    // The parser throws for malformed packets; the caller sends the error.
    return null
  }
  return parsed
}

const encoder = new Encoder()

function packet(content: Packet): string {
  return `4${encoder.encode(content)[0]}`
}

/** The stored text is sent unchanged, without parsing it. */
const eventFrame = (text: string): string => `42["${FRAME_EVENT}",${text}]`

function liveText({ kind, source, text }: StoredEvent): string | null {
  if (NEVER_SENT.has(kind)) return null
  if (source !== 'environment') return text
  if (!SHOWN_OF_ENVIRONMENT.has(kind)) return null
  // In a stored text `source` follows `id` and `timestamp`, so the first occurrence is the right one.
  return text.replace('"source":"environment"', '"source":"agent"')
}

function isReplayed({ id, kind }: StoredEvent, newestState: number): boolean {
  if (NEVER_SENT.has(kind) || kind === 'action:recall') return false
  return kind !== STATE || id >= newestState
}
