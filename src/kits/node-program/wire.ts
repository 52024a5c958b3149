// The format of data between the service and a program host. A package is the length of a JSON text, the text, and the
// bytes of its entries; an answer is a sequence of frames: a kind, a length, a payload. Imports only a leaf module,
// because the Worker inside the host is loaded file by file.

import { joinBytes } from '../../lib/bytes.ts'

/** `output` and `ending` are JSON, `changes` is a package, `failure` is a message. */
const FRAME_KINDS = { output: 1, changes: 2, ending: 3, failure: 4 } as const
export type FrameKind = keyof typeof FRAME_KINDS
export type Frame = { kind: FrameKind; payload: Uint8Array }

type Entry = { readonly path: string; readonly bytes?: Uint8Array }

const LENGTH_BYTES = 4
const FRAME_HEAD_BYTES = 1 + LENGTH_BYTES

export function pack(head: object, entries: readonly Entry[]): Uint8Array {
  const listed = entries.map(({ bytes, ...rest }) => ({ ...rest, ...(bytes ? { byteLength: bytes.byteLength } : {}) }))
  const text = new TextEncoder().encode(JSON.stringify({ head, entries: listed }))
  const length = new Uint8Array(LENGTH_BYTES)
  new DataView(length.buffer).setUint32(0, text.byteLength)
  return joinBytes([length, text, ...entries.flatMap(({ bytes }) => (bytes ? [bytes] : []))])
}

/** The entries' bytes are parts of one buffer that contains nothing else. Throws for an invalid package. */
export function unpack(packed: Uint8Array): { head: unknown; entries: unknown[] } {
  const length = new DataView(packed.buffer, packed.byteOffset, packed.byteLength).getUint32(0)
  const text = new TextDecoder().decode(packed.subarray(LENGTH_BYTES, LENGTH_BYTES + length))
  const { head, entries } = JSON.parse(text) as { head: unknown; entries: { byteLength?: number }[] }
  const bytes = packed.slice(LENGTH_BYTES + length)
  let at = 0
  const filled = entries.map(({ byteLength, ...rest }) => {
    if (byteLength === undefined) return rest
    at += byteLength
    if (at > bytes.byteLength) throw new Error('a package is shorter than it says')
    return { ...rest, bytes: bytes.subarray(at - byteLength, at) }
  })
  return { head, entries: filled }
}

export function frame(kind: FrameKind, payload: Uint8Array | string): Uint8Array {
  const bytes = typeof payload === 'string' ? new TextEncoder().encode(payload) : payload
  const head = new Uint8Array(FRAME_HEAD_BYTES)
  head[0] = FRAME_KINDS[kind]
  new DataView(head.buffer).setUint32(1, bytes.byteLength)
  return joinBytes([head, bytes])
}

/** Reassembles frames from the pieces in which they arrive. */
export class FrameReader {
  #parts: Uint8Array[] = []
  #length = 0

  /** The complete frames. Throws for an unknown kind. */
  push(piece: Uint8Array): Frame[] {
    this.#parts.push(piece)
    this.#length += piece.byteLength
    const frames: Frame[] = []
    for (let next = this.#take(); next !== null; next = this.#take()) frames.push(next)
    return frames
  }

  #take(): Frame | null {
    if (this.#length < FRAME_HEAD_BYTES) return null
    const [first] = this.#parts
    const head = first && first.byteLength >= FRAME_HEAD_BYTES ? first : this.#joinParts()
    const length = new DataView(head.buffer, head.byteOffset, head.byteLength).getUint32(1)
    if (this.#length < FRAME_HEAD_BYTES + length) return null
    const whole = this.#joinParts()
    const kind = Object.entries(FRAME_KINDS).find(([, number]) => number === whole[0])?.[0]
    if (kind === undefined) throw new Error(`there is no frame of kind ${whole[0]}`)
    const rest = whole.subarray(FRAME_HEAD_BYTES + length)
    this.#parts = [rest]
    this.#length = rest.byteLength
    return { kind: kind as FrameKind, payload: whole.subarray(FRAME_HEAD_BYTES, FRAME_HEAD_BYTES + length) }
  }

  #joinParts(): Uint8Array {
    const whole = this.#parts.length === 1 && this.#parts[0] ? this.#parts[0] : joinBytes(this.#parts)
    this.#parts = [whole]
    return whole
  }
}
