// What a conversation does, and what must be true of it afterwards: of each file it is known what it may hold.

import type { Random } from '../random.ts'

const NAMES = ['a', 'b', 'c', 'd']

export type Write = { readonly name: string; readonly size: number }
export type Command = {
  readonly key: string
  readonly writes: readonly Write[]
  readonly removes: readonly string[]
  readonly lines: number
  readonly restMs: number
  readonly exitCode: number
}

export function commandOf(key: string, random: Random): Command {
  const names = NAMES.filter(() => random.chance(0.5))
  return {
    key,
    writes: names.map((name) => ({ name, size: random.chance(0.1) ? random.below(900_000) : random.below(2_000) })),
    removes: random.chance(0.2) ? [random.pick(NAMES)].filter((name) => !names.includes(name)) : [],
    lines: random.below(6),
    restMs: random.pick([0, 10, 100, 400]),
    exitCode: random.below(4),
  }
}

/** Of a tool: it prints and changes no files. */
export function callOf(key: string, random: Random): Command {
  return { ...commandOf(key, random), key: `${CALL}${key}`, writes: [], removes: [] }
}

const CALL = 'call-of-'
export const isCall = ({ key }: { key: string }): boolean => key.startsWith(CALL)

export const contentOf = (key: string, { name, size }: Write): string => `${key} ${size}\n${name.repeat(size)}`

export const linesOf = ({ key, lines }: Command): string[] => Array.from({ length: lines }, (_, at) => `${key} ${at}\n`)

export function filesAfter(
  before: ReadonlyMap<string, string>,
  { key, writes, removes }: Command,
): Map<string, string> {
  const files = new Map(before)
  for (const write of writes) files.set(write.name, contentOf(key, write))
  for (const name of removes) files.delete(name)
  return files
}

/** What the command may have left at the name, beside what stood there. */
function madeBy(command: Command | null, name: string): (string | undefined)[] {
  const write = command?.writes.find((one) => one.name === name)
  return [
    ...(command === null || write === undefined ? [] : [contentOf(command.key, write)]),
    ...(command?.removes.includes(name) ? [undefined] : []),
  ]
}

export function isWhole(name: string, text: string): boolean {
  if (/^[uvw]/.test(name)) return true
  const head = text.indexOf('\n')
  return text.slice(head + 1) === name.repeat(Number(text.slice(0, head).split(' ')[1]))
}

const firstLine = (text: string | undefined): string => text?.split('\n', 1)[0] ?? 'not there'

type Files = ReadonlyMap<string, string>
/** What stood there before, what users stored, and the newest command without an outcome. */
type KnownStates = { files: Files; stored: Files; doubted: Command | null }

/** Files that are neither as they were nor as the command makes them. */
export function wrongFiles(
  command: Command,
  { isEnded, found, files, stored, doubted }: KnownStates & { isEnded: boolean; found: Files },
): string[] {
  const wrong: string[] = []
  const wanted = isEnded ? filesAfter(files, command) : files
  for (const name of new Set([...found.keys(), ...wanted.keys(), ...stored.keys()])) {
    const text = found.get(name)
    if (text !== undefined && !isWhole(name, text)) wrong.push(`${command.key}: ${name} is torn`)
    if (stored.has(name)) {
      if (text !== stored.get(name)) wrong.push(`${command.key}: the user's ${name} is not as stored`)
      continue
    }
    const doubts = isEnded && wanted.get(name) !== files.get(name) ? [] : [doubted, isEnded ? null : command]
    const allowed = [wanted.get(name), ...doubts.flatMap((doubt) => madeBy(doubt, name))]
    if (!allowed.includes(text))
      wrong.push(`${command.key}: ${name} is ${firstLine(text)} and not ${allowed.map(firstLine).join(' or ')}`)
  }
  return wrong
}

/** At the end both sides have the same. */
export function differences(here: Files, there: Files): string[] {
  return [...new Set([...here.keys(), ...there.keys()])]
    .filter((name) => here.get(name) !== there.get(name))
    .map((name) => {
      const [one, other] = [here, there].map((files) => firstLine(files.get(name)))
      return `at the end ${name} is ${one} on the machine and ${other} in the workspace`
    })
}
