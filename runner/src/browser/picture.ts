// The screenshot of a page, and a second one with a frame and an id around each interactive element. The frames are
// drawn here, not in the page, which could detect and change them. The data from the browser is not trusted: only PNG
// in the form that Chromium writes is read, up to the size of the window.

import { deflateSync, inflateSync } from 'node:zlib'

export const WINDOW = { width: 1280, height: 720 }
export type Mark = {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly id: string
}
type Pixels = { readonly width: number; readonly height: number; readonly rgb: Buffer }

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const COLOURS = [
  [200, 30, 30],
  [20, 90, 200],
  [10, 120, 50],
  [150, 60, 160],
  [170, 90, 0],
] as const
/** Each glyph is five rows of three pixels, as bits. */
const GLYPHS: Readonly<Record<string, readonly number[]>> = {
  '0': [7, 5, 5, 5, 7],
  '1': [2, 6, 2, 2, 7],
  '2': [7, 1, 7, 4, 7],
  '3': [7, 1, 7, 1, 7],
  '4': [5, 5, 7, 1, 1],
  '5': [7, 4, 7, 1, 7],
  '6': [7, 4, 7, 5, 7],
  '7': [7, 1, 1, 2, 2],
  '8': [7, 5, 7, 5, 7],
  '9': [7, 5, 7, 1, 7],
  e: [0, 7, 7, 4, 7],
  f: [3, 4, 6, 4, 4],
}
const DOT = 2

/** Both as base64, each no longer than `most`: if needed, at half or a quarter of the size. */
export function picturesOf(png: Buffer, marks: readonly Mark[], most: number): { screenshot: string; marks: string } {
  const plain = pixelsIn(png)
  const marked = { ...plain, rgb: Buffer.from(plain.rgb) }
  for (const [index, mark] of marks.entries()) draw(marked, mark, COLOURS[index % COLOURS.length] ?? COLOURS[0])
  const asItCame = png.toString('base64')
  return { screenshot: asItCame.length <= most ? asItCame : fitted(plain, most), marks: fitted(marked, most) }
}

function fitted(picture: Pixels, most: number): string {
  let shown = picture
  for (let step = 0; step < 3; step++) {
    const text = encoded(shown).toString('base64')
    if (text.length <= most) return text
    shown = halved(shown)
  }
  return ''
}

/** Throws if the data is not a screenshot of a page. */
export function pixelsIn(png: Buffer): Pixels {
  if (!png.subarray(0, 8).equals(SIGNATURE)) throw new Error('the picture is no PNG')
  const packed: Buffer[] = []
  let head: { width: number; height: number; channels: number } | null = null
  for (let at = 8; at + 12 <= png.length; ) {
    const length = png.readUInt32BE(at)
    const kind = png.toString('latin1', at + 4, at + 8)
    const data = png.subarray(at + 8, at + 8 + length)
    if (kind === 'IHDR') head = headIn(data)
    if (kind === 'IDAT') packed.push(data)
    at += 12 + length
  }
  if (head === null) throw new Error('the picture has no head')
  const { width, height, channels } = head
  const size = (width * channels + 1) * height
  const raw = inflateSync(Buffer.concat(packed), { maxOutputLength: size })
  if (raw.length !== size) throw new Error('the picture is not whole')
  return { width, height, rgb: unfiltered(raw, head) }
}

function headIn(data: Buffer): { width: number; height: number; channels: number } {
  const [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)]
  const [depth, colour, , , interlace] = data.subarray(8, 13)
  if (width < 1 || height < 1 || width > WINDOW.width || height > WINDOW.height)
    throw new Error('the picture is larger than the window')
  if (depth !== 8 || (colour !== 2 && colour !== 6) || interlace !== 0)
    throw new Error('the picture is of another kind')
  return { width, height, channels: colour === 2 ? 3 : 4 }
}

/** A row is stored as differences to the pixel on the left, the one above, or both; each row starts with the method. */
function unfiltered(
  raw: Buffer,
  { width, height, channels }: { width: number; height: number; channels: number },
): Buffer {
  const bytes = width * channels
  const rgb = Buffer.alloc(width * height * 3)
  let above: Buffer = Buffer.alloc(bytes)
  for (let y = 0; y < height; y++) {
    const start = y * (bytes + 1)
    const filter = raw[start] ?? 0
    const row = raw.subarray(start + 1, start + 1 + bytes)
    for (let x = 0; x < bytes; x++) {
      const left = x < channels ? 0 : (row[x - channels] ?? 0)
      const up = above[x] ?? 0
      const corner = x < channels ? 0 : (above[x - channels] ?? 0)
      row[x] = (row[x] ?? 0) + predicted(filter, left, up, corner)
    }
    for (let x = 0; x < width; x++) row.copy(rgb, (y * width + x) * 3, x * channels, x * channels + 3)
    above = row
  }
  return rgb
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 0) return 0
  if (filter === 1) return left
  if (filter === 2) return up
  if (filter === 3) return (left + up) >> 1
  const guess = left + up - corner
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}

function encoded({ width, height, rgb }: Pixels): Buffer {
  const bytes = width * 3
  const raw = Buffer.alloc((bytes + 1) * height)
  for (let y = 0; y < height; y++) {
    // As the difference to the row above, because most rows of a page are similar.
    raw[y * (bytes + 1)] = 2
    for (let x = 0; x < bytes; x++) {
      const up = y === 0 ? 0 : (rgb[(y - 1) * bytes + x] ?? 0)
      raw[y * (bytes + 1) + 1 + x] = (rgb[y * bytes + x] ?? 0) - up
    }
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([SIGNATURE, chunk('IHDR', head), chunk('IDAT', deflateSync(raw, { level: 4 })), chunk('IEND')])
}

function chunk(kind: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? 0xedb88320 ^ (sum >>> 1) : sum >>> 1
  return sum
})

/** Node has it since 20.15. */
function crc32(bytes: Buffer): number {
  let sum = 0xffffffff
  for (const byte of bytes) sum = (CRC_TABLE[(sum ^ byte) & 0xff] ?? 0) ^ (sum >>> 8)
  return (sum ^ 0xffffffff) >>> 0
}

/** Each pixel is the mean of four. */
function halved({ width, height, rgb }: Pixels): Pixels {
  const [w, h] = [Math.max(1, width >> 1), Math.max(1, height >> 1)]
  const half = Buffer.alloc(w * h * 3)
  const at = (x: number, y: number, c: number) =>
    rgb[(Math.min(y, height - 1) * width + Math.min(x, width - 1)) * 3 + c] ?? 0
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w * 3; x++) {
      const [px, c] = [Math.floor(x / 3) * 2, x % 3]
      half[y * w * 3 + x] =
        (at(px, 2 * y, c) + at(px + 1, 2 * y, c) + at(px, 2 * y + 1, c) + at(px + 1, 2 * y + 1, c)) >> 2
    }
  }
  return { width: w, height: h, rgb: half }
}

type Colour = readonly [number, number, number]

function draw(picture: Pixels, { x, y, width, height, id }: Mark, colour: Colour): void {
  const [left, top] = [Math.round(x), Math.round(y)]
  const [right, bottom] = [Math.round(x + width) - 1, Math.round(y + height) - 1]
  fill(picture, { left, top, right, bottom: top }, colour)
  fill(picture, { left, top: bottom, right, bottom }, colour)
  fill(picture, { left, top, right: left, bottom }, colour)
  fill(picture, { left: right, top, right, bottom }, colour)
  const label = { left: Math.max(0, left), top: Math.max(0, top - 5 * DOT - 2) }
  const labelRight = label.left + id.length * 4 * DOT + 1
  fill(picture, { ...label, right: labelRight, bottom: label.top + 5 * DOT + 1 }, colour)
  for (const [index, letter] of [...id].entries()) {
    for (const [row, bits] of (GLYPHS[letter] ?? []).entries()) {
      for (let column = 0; column < 3; column++) {
        if ((bits & (4 >> column)) === 0) continue
        const [dx, dy] = [label.left + 2 + (index * 4 + column) * DOT, label.top + 1 + row * DOT]
        fill(picture, { left: dx, top: dy, right: dx + DOT - 1, bottom: dy + DOT - 1 }, [255, 255, 255])
      }
    }
  }
}

type Edges = { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number }

/** Only the part inside the picture. */
function fill({ width, height, rgb }: Pixels, { left, top, right, bottom }: Edges, colour: Colour): void {
  for (let y = Math.max(0, top); y <= Math.min(height - 1, bottom); y++) {
    for (let x = Math.max(0, left); x <= Math.min(width - 1, right); x++) rgb.set(colour, (y * width + x) * 3)
  }
}
