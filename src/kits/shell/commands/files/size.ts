// Parses sizes and counts of GNU's tools: `10K`, `2MB`, `0x10`.

const UNITS = 'KMGTPE'

/** In bytes; null for an invalid size. */
export function sizeOf(text: string): number | null {
  const match = /^(\d+|0[xX][0-9a-fA-F]+)(?:(b|c|w)|([kKMGTPE])(iB|B)?|(B))?$/.exec(text)
  if (!match) return null
  const [, digits = '', small, unit, suffix] = match
  const power = unit === undefined ? 0 : UNITS.indexOf(unit.toUpperCase()) + 1
  const factor = small === 'b' ? 512 : small === 'w' ? 2 : (suffix === 'B' ? 1000 : 1024) ** power
  return Number(digits) * factor
}
