// Parses a command line like most commands: `-xvf name`, `-ofile`, `--name=value`, `--name value`.

export interface OptionSpec {
  /** Letters and long names without a value, with the resulting name. */
  flags: Readonly<Record<string, string>>
  /** Those with a value. */
  values: Readonly<Record<string, string>>
}

export type ReadOptions =
  | { ok: true; flags: Set<string>; values: Map<string, string[]>; operands: string[] }
  | { ok: false; problem: string }

export function readOptions(args: readonly string[], spec: OptionSpec): ReadOptions {
  const read = {
    ok: true as const,
    flags: new Set<string>(),
    values: new Map<string, string[]>(),
    operands: [] as string[],
  }
  const keep = (name: string, value: string) => read.values.set(name, [...(read.values.get(name) ?? []), value])
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') {
      read.operands.push(...args.slice(at + 1))
      break
    }
    if (arg === '-' || !arg.startsWith('-')) {
      read.operands.push(arg)
      continue
    }
    const parts = arg.startsWith('--') ? longOption(arg) : shortOptions(arg, spec)
    for (const { name, inline } of parts) {
      const [flag, valued] = [own(spec.flags, name), own(spec.values, name)]
      if (valued !== undefined) {
        const value = inline ?? args[++at]
        if (value === undefined) return { ok: false, problem: `option ${name} needs a value` }
        keep(valued, value)
      } else if (flag !== undefined && inline === undefined) read.flags.add(flag)
      else return { ok: false, problem: `option ${name} is not available here` }
    }
  }
  return read
}

type Part = { name: string; inline: string | undefined }

function longOption(arg: string): Part[] {
  const equals = arg.indexOf('=')
  return [equals < 0 ? { name: arg, inline: undefined } : { name: arg.slice(0, equals), inline: arg.slice(equals + 1) }]
}

/** Letters up to the first that takes a value: the rest is its value. */
function shortOptions(arg: string, { values }: OptionSpec): Part[] {
  const parts: Part[] = []
  for (let i = 1; i < arg.length; i++) {
    const name = `-${arg[i]}`
    const rest = arg.slice(i + 1)
    const takesRest = own(values, name) !== undefined && rest !== ''
    parts.push({ name, inline: takesRest ? rest : undefined })
    if (takesRest) break
  }
  return parts
}

function own(names: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(names, name) ? names[name] : undefined
}
