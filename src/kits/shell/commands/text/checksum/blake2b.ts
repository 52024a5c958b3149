// BLAKE2b (RFC 7693), which the runtime does not have. Words of 64 bits are stored as two halves: bigints would take
// ten times as long.

const IV = new Uint32Array([
  0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1, 0xa54ff53a, 0xade682d1,
  0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab, 0x137e2179, 0x5be0cd19,
])
const SIGMA = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
]
const COLUMNS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const
const BLOCK = 128
const ROUNDS = 12

/** In hexadecimal digits. */
export function blake2b(bytes: Uint8Array, size: number): string {
  const state = Uint32Array.from(IV)
  state[0] = (state[0] ?? 0) ^ 0x01010000 ^ size
  const block = new Uint8Array(BLOCK)
  for (let at = 0; ; at += BLOCK) {
    const isLast = at + BLOCK >= bytes.length
    block.fill(0)
    block.set(bytes.subarray(at, at + BLOCK))
    compress(state, block, { counted: isLast ? bytes.length : at + BLOCK, isLast })
    if (isLast) break
  }
  const digest = new Uint8Array(state.buffer).subarray(0, size)
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function compress(
  state: Uint32Array,
  block: Uint8Array,
  { counted, isLast }: { counted: number; isLast: boolean },
): void {
  const words = new Uint32Array(block.buffer)
  const v = new Uint32Array(32)
  v.set(state)
  v.set(IV, 16)
  v[24] = (v[24] ?? 0) ^ (counted >>> 0)
  v[25] = (v[25] ?? 0) ^ Math.floor(counted / 2 ** 32)
  if (isLast) {
    v[28] = ~(v[28] ?? 0)
    v[29] = ~(v[29] ?? 0)
  }
  for (let round = 0; round < ROUNDS; round++) {
    const order = SIGMA[round % SIGMA.length] ?? []
    for (let i = 0; i < COLUMNS.length; i++) {
      const [a, b, c, d] = COLUMNS[i] ?? COLUMNS[0]
      const [x, y] = [2 * (order[2 * i] ?? 0), 2 * (order[2 * i + 1] ?? 0)]
      addWords(v, 2 * a, 2 * b)
      addPair(v, 2 * a, words[x] ?? 0, words[x + 1] ?? 0)
      turnXor(v, 2 * d, 2 * a, 32)
      addWords(v, 2 * c, 2 * d)
      turnXor(v, 2 * b, 2 * c, 24)
      addWords(v, 2 * a, 2 * b)
      addPair(v, 2 * a, words[y] ?? 0, words[y + 1] ?? 0)
      turnXor(v, 2 * d, 2 * a, 16)
      addWords(v, 2 * c, 2 * d)
      turnXor(v, 2 * b, 2 * c, 63)
    }
  }
  for (let i = 0; i < 16; i++) state[i] = (state[i] ?? 0) ^ (v[i] ?? 0) ^ (v[i + 16] ?? 0)
}

function addWords(v: Uint32Array, a: number, b: number): void {
  addPair(v, a, v[b] ?? 0, v[b + 1] ?? 0)
}

function addPair(v: Uint32Array, a: number, low: number, high: number): void {
  const sum = (v[a] ?? 0) + low
  v[a] = sum
  v[a + 1] = (v[a + 1] ?? 0) + high + (sum > 0xffffffff ? 1 : 0)
}

/** `a ^= b`, and then rotated right by this many bits. */
function turnXor(v: Uint32Array, a: number, b: number, bits: number): void {
  const low = ((v[a] ?? 0) ^ (v[b] ?? 0)) >>> 0
  const high = ((v[a + 1] ?? 0) ^ (v[b + 1] ?? 0)) >>> 0
  if (bits === 32) {
    v[a] = high
    v[a + 1] = low
  } else if (bits === 63) {
    v[a] = (low << 1) | (high >>> 31)
    v[a + 1] = (high << 1) | (low >>> 31)
  } else {
    v[a] = (low >>> bits) | (high << (32 - bits))
    v[a + 1] = (high >>> bits) | (low << (32 - bits))
  }
}
