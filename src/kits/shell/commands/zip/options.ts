// The command lines of `zip` and `unzip`: combined letters, and lists of names after `-x` and `-i` that end at the next
// option.

export interface ZipOptions {
  flags: ReadonlySet<string>
  lists: ReadonlyMap<string, string[]>
  values: ReadonlyMap<string, string>
  operands: string[]
}

export interface ZipSpec {
  flags: string
  /** Letters with a list, which ends at the next option or at `@`. */
  lists: string
  /** Letters with one value. */
  values: string
  long: Readonly<Record<string, string>>
  /** Options of two letters, which are not two options. */
  pairs?: readonly string[]
}

/** A text is the error. */
export function zipOptions(args: readonly string[], spec: ZipSpec): ZipOptions | string {
  const flags = new Set<string>()
  const [lists, values] = [new Map<string, string[]>(), new Map<string, string>()]
  const operands: string[] = []
  let list: string[] | null = null
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') {
      operands.push(...args.slice(at + 1))
      break
    }
    if (arg === '@' && list !== null) list = null
    else if (!arg.startsWith('-') || arg === '-') (list ?? operands).push(arg)
    else {
      list = null
      const letters = arg.startsWith('--') ? (spec.long[arg.slice(2)] ?? '') : arg.slice(1)
      if (letters === '' || spec.pairs?.includes(letters)) return `option ${arg} is not available here`
      for (let i = 0; i < letters.length; i++) {
        const letter = letters.charAt(i)
        const rest = letters.slice(i + 1)
        if (spec.lists.includes(letter)) {
          list = lists.get(letter) ?? []
          lists.set(letter, list)
          if (rest !== '') list.push(rest)
          break
        }
        if (spec.values.includes(letter)) {
          values.set(letter, rest === '' ? (args[++at] ?? '') : rest)
          break
        }
        if (!spec.flags.includes(letter)) return `option -${letter} is not available here`
        flags.add(letter)
      }
    }
  }
  return { flags, lists, values, operands }
}
