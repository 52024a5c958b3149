// Parses options like GNU's programs: combined letters, separate or joined values, abbreviated long names, options and
// operands in any order; with those programs' messages about unknown options.

export interface GnuSpec {
  /** Letters like in `getopt`: a colon after one with a value. */
  letters: string
  /** Long names with the resulting letter or name. `=` after a name with a value, `=?` for an optional one. */
  long: Readonly<Record<string, string>>
}

export interface GnuOption {
  name: string
  /** Empty for an option without a value, null for an omitted optional one. */
  value: string | null
}

export type GnuOptions = { ok: true; options: GnuOption[]; operands: string[] } | { ok: false; problem: string }

class Misuse extends Error {}

export function readGnuOptions(args: readonly string[], spec: GnuSpec): GnuOptions {
  const options: GnuOption[] = []
  const operands: string[] = []
  const rest = [...args]
  try {
    for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
      if (arg === '--') {
        operands.push(...rest)
        break
      }
      if (arg === '-' || !arg.startsWith('-')) operands.push(arg)
      else if (arg.startsWith('--')) options.push(longOption(arg, rest, spec))
      else options.push(...shortOptions(arg, rest, spec))
    }
  } catch (error) {
    if (!(error instanceof Misuse)) throw error
    return { ok: false, problem: error.message }
  }
  return { ok: true, options, operands }
}

function longOption(arg: string, rest: string[], { long }: GnuSpec): GnuOption {
  const [, word = '', inline] = /^(--[^=]*)(?:=([\s\S]*))?$/.exec(arg) ?? []
  const matching = Object.keys(long).filter((key) => `--${key}`.startsWith(word))
  const exact = matching.find((key) => `--${key.replace(/=\??$/, '')}` === word)
  const meanings = new Set(matching.map((key) => long[key]))
  if (exact === undefined && meanings.size > 1) {
    const possible = matching.map((key) => ` '--${key.replace(/=\??$/, '')}'`).join('')
    throw new Misuse(`option '${word}' is ambiguous; possibilities:${possible}`)
  }
  const key = exact ?? matching[0]
  if (key === undefined) throw new Misuse(`unrecognized option '${word}'`)
  const name = long[key] ?? ''
  const shown = `--${key.replace(/=\??$/, '')}`
  if (key.endsWith('=?')) return { name, value: inline ?? null }
  if (!key.endsWith('=')) {
    if (inline !== undefined) throw new Misuse(`option '${shown}' doesn't allow an argument`)
    return { name, value: '' }
  }
  const value = inline ?? rest.shift()
  if (value === undefined) throw new Misuse(`option '${shown}' requires an argument`)
  return { name, value }
}

function shortOptions(arg: string, rest: string[], { letters }: GnuSpec): GnuOption[] {
  const found: GnuOption[] = []
  for (let i = 1; i < arg.length; i++) {
    const name = arg.charAt(i)
    const at = letters.indexOf(name)
    if (at < 0 || name === ':') throw new Misuse(`invalid option -- '${name}'`)
    if (letters[at + 1] !== ':') {
      found.push({ name, value: '' })
      continue
    }
    const value = i + 1 < arg.length ? arg.slice(i + 1) : rest.shift()
    if (value === undefined) throw new Misuse(`option requires an argument -- '${name}'`)
    found.push({ name, value })
    break
  }
  return found
}
