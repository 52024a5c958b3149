// Binary frames: 4 bytes big-endian length of the head, the head as JSON, the bytes. Kinds: files of a transfer, the
// output of a call, and data from and to a port or the terminal. A frame is self-contained: many small files share one,
// a large file takes many.

import { z } from 'zod'
import { CallKey, MAX_FRAME_BYTES, MAX_PATH_BYTES } from './wire.ts'

/** Relative to the workspace, `/` between names; no empty name, `.` or `..`, no NUL: validated by `isTreePath`. */
const TreePath = z.string().min(1).max(MAX_PATH_BYTES).refine(isTreePath, 'not a path inside the workspace')

export const FrameEntry = z.object({
  path: TreePath,
  kind: z.enum(['file', 'directory', 'symlink', 'gone']),
  /** Permission bits, of files and directories. */
  mode: z.number().int().min(0).max(0o777).optional(),
  /** Epoch ms, of files. */
  mtime: z.number().optional(),
  /** Of symlinks. */
  target: z.string().max(MAX_PATH_BYTES).optional(),
  /** Of files: the whole size, and which of its bytes are in this frame. A file's pieces come in order, one after the other. */
  size: z.number().int().nonnegative().optional(),
  offset: z.number().int().nonnegative().optional(),
  length: z.number().int().nonnegative().optional(),
})
export type FrameEntry = z.infer<typeof FrameEntry>

const FilesHead = z.object({
  t: z.literal('files'),
  transfer: z.number().int().nonnegative(),
  /** From 0, without a gap; acknowledged on the stream `transfer:<n>`. */
  seq: z.number().int().nonnegative(),
  entries: z.array(FrameEntry).max(4096),
})
const OutputHead = z.object({
  t: z.literal('output'),
  key: CallKey,
  /** From 0, without a gap; acknowledged on the stream `output:<key>`. A frame that was not acknowledged is sent again after a reconnection. */
  seq: z.number().int().nonnegative(),
})
/** A piece of a body, or a message of a socket. Acknowledged on the stream `port:<stream>` when it was consumed. */
export const PortFrameHead = z.object({
  t: z.literal('port'),
  stream: z.number().int().nonnegative(),
  seq: z.number().int().nonnegative(),
  /** Whether a message of a socket is text. */
  text: z.boolean().default(false),
  /** No more data follows in this direction. */
  end: z.boolean().default(false),
})
/** Bytes of the terminal. Acknowledged on the stream `terminal:<stream>`. */
const TerminalFrameHead = PortFrameHead.extend({ t: z.literal('terminal') })
export type PortFrameHead = z.infer<typeof PortFrameHead> | z.infer<typeof TerminalFrameHead>
const FrameHead = z.discriminatedUnion('t', [FilesHead, OutputHead, PortFrameHead, TerminalFrameHead])
export type FrameHead = z.infer<typeof FrameHead>
export type Frame = { head: FrameHead; bytes: Uint8Array }

export class BadFrame extends Error {}

export function encodeFrame({ head, bytes }: Frame): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(head))
  const frame = new Uint8Array(4 + text.byteLength + bytes.byteLength)
  if (frame.byteLength > MAX_FRAME_BYTES) throw new BadFrame(`a frame of ${frame.byteLength} bytes is too long`)
  new DataView(frame.buffer).setUint32(0, text.byteLength)
  frame.set(text, 4)
  frame.set(bytes, 4 + text.byteLength)
  return frame
}

/** Throws a `BadFrame` for anything that is not exactly one frame: its pieces must fill its bytes. */
export function decodeFrame(frame: Uint8Array): Frame {
  if (frame.byteLength > MAX_FRAME_BYTES) throw new BadFrame(`a frame of ${frame.byteLength} bytes is too long`)
  if (frame.byteLength < 4) throw new BadFrame('a frame without a head')
  const length = new DataView(frame.buffer, frame.byteOffset, 4).getUint32(0)
  if (4 + length > frame.byteLength) throw new BadFrame('a head that is longer than its frame')
  const head = FrameHead.safeParse(parsed(frame.subarray(4, 4 + length)))
  if (!head.success) throw new BadFrame(`a head that is not one: ${head.error.issues[0]?.message ?? ''}`)
  const bytes = frame.subarray(4 + length)
  if (head.data.t === 'files') assertFilled(head.data.entries, bytes.byteLength)
  return { head: head.data, bytes }
}

function parsed(head: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(head))
  } catch (error) {
    throw new BadFrame(`a head that is no JSON: ${error instanceof Error ? error.message : ''}`)
  }
}

function assertFilled(entries: readonly FrameEntry[], length: number): void {
  let sum = 0
  for (const entry of entries) {
    if (entry.kind !== 'file') continue
    const { size, offset, length: piece } = entry
    if (size === undefined || offset === undefined || piece === undefined) throw new BadFrame('a file without its size')
    if (offset + piece > size) throw new BadFrame('a piece beyond the end of its file')
    sum += piece
  }
  if (sum !== length) throw new BadFrame(`a frame whose files have ${sum} bytes and that carries ${length}`)
}

function isTreePath(path: string): boolean {
  return path.split('/').every((name) => name !== '' && name !== '.' && name !== '..' && !name.includes('\0'))
}
