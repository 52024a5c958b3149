// Byte pairs with characters in the runtime's table of GBK that the encoding of the original `iconv` does not have.

const RANGES: readonly (readonly [number, number])[] = [
  [0xa2e3, 0xa2e3],
  [0xa3a0, 0xa3a0],
  [0xa6d9, 0xa6df],
  [0xa6ec, 0xa6ed],
  [0xa6f3, 0xa6f3],
  [0xa8bc, 0xa8bc],
  [0xa8bf, 0xa8bf],
  [0xa989, 0xa995],
  [0xfe50, 0xfea0],
]

export function isGap(pair: string): boolean {
  const code = pair.charCodeAt(0) * 256 + pair.charCodeAt(1)
  return RANGES.some(([first, last]) => code >= first && code <= last)
}
