// The parts of a tar archive (ustar): for each entry a header block, its contents, and zeros up to the next block.

export const TAR_BLOCK = 512
const NAME_BYTES = 100
const PREFIX_BYTES = 155

/** Two empty blocks. */
export const TAR_END = new Uint8Array(2 * TAR_BLOCK)

/** The zeros after contents of this size. */
export const tarPadding = (size: number): Uint8Array => new Uint8Array((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK)

/** The header block of an entry. The path must be ASCII; a long one is split at a slash. `mtime` is epoch ms. */
export function tarHeader({ path, size, mtime }: { path: string; size: number; mtime: number }): Uint8Array {
  const { prefix, name } = placesOf(path)
  const block = new Uint8Array(TAR_BLOCK)
  const write = (text: string, at: number) => block.set(new TextEncoder().encode(text), at)
  write(name, 0)
  write(octal(0o644, 8), 100)
  write(octal(0, 8), 108)
  write(octal(0, 8), 116)
  write(octal(size, 12), 124)
  write(octal(Math.floor(mtime / 1000), 12), 136)
  // Spaces in place of the checksum while it is computed.
  write(' '.repeat(8), 148)
  write('0', 156)
  write('ustar\x0000', 257)
  write(prefix, 345)
  write(
    `${octal(
      block.reduce((sum, byte) => sum + byte, 0),
      7,
    )} `,
    148,
  )
  return block
}

export class TarError extends Error {}

/** The fields of a header block; null for an empty block, which ends the archive. Only plain files are accepted. */
export function readTarHeader(block: Uint8Array): { path: string; size: number } | null {
  if (block.every((byte) => byte === 0)) return null
  const field = (from: number, length: number) =>
    new TextDecoder().decode(block.subarray(from, from + length)).replace(/\0.*$/s, '')
  const number = (from: number, length: number) => {
    const text = field(from, length).trim()
    if (!/^[0-7]+$/.test(text)) throw new TarError('a header has no octal number where one belongs')
    return Number.parseInt(text, 8)
  }
  const blank = (byte: number, at: number) => (at >= 148 && at < 156 ? 32 : byte)
  const sum = block.reduce((total, byte, at) => total + blank(byte, at), 0)
  if (field(257, 5) !== 'ustar' || number(148, 8) !== sum) throw new TarError('a header is no header of a tar (ustar)')
  if (field(156, 1) !== '0' && field(156, 1) !== '') throw new TarError('an entry is no plain file')
  const prefix = field(345, PREFIX_BYTES)
  const name = field(0, NAME_BYTES)
  return { path: prefix === '' ? name : `${prefix}/${name}`, size: number(124, 12) }
}

function placesOf(path: string): { prefix: string; name: string } {
  if (path.length <= NAME_BYTES) return { prefix: '', name: path }
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)]
    if (name.length <= NAME_BYTES && prefix.length <= PREFIX_BYTES) return { prefix, name }
  }
  throw new Error(`the path is too long for an archive: ${path}`)
}

const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`
