// The steps of a conversation under faults, and the checks afterwards. A step writes a line where it runs, prints, writes
// whole files one after the other, removes one, and ends with its own status. The possible contents of each file are known.

const LONGEST_BYTES = 1_200_000
const NAMES = ['a', 'b', 'c', 'd', 'e']

export type Step = {
  readonly key: string
  readonly writes: readonly { name: string; size: number }[]
  readonly removes: string | null
  readonly lines: number
  readonly restMs: number
  readonly exitCode: number
}
export type Files = ReadonlyMap<string, string>

export function stepOf(key: string, random: () => number): Step {
  const below = (limit: number) => Math.floor(random() * limit)
  const names = NAMES.filter(() => random() < 0.5)
  return {
    key,
    writes: names.map((name) => ({ name, size: random() < 0.3 ? below(LONGEST_BYTES) : below(2_000) })),
    removes: random() < 0.2 ? (NAMES[below(NAMES.length)] ?? null) : null,
    lines: random() < 0.2 ? 20_000 : below(20),
    restMs: random() < 0.7 ? below(900) : 0,
    exitCode: below(5),
  }
}

/** Each file is written under another name and renamed, so only a faulty transfer can leave it incomplete. */
export function commandOf({ key, writes, removes, lines, restMs, exitCode }: Step): string {
  const rest = `sleep ${(restMs / (writes.length + 1) / 1000).toFixed(3)}`
  const write = ({ name, size }: Step['writes'][number]) =>
    `{ echo ${key} ${name} ${size}; head -c ${size} /dev/zero | tr '\\0' ${name}; } > .making; mv .making ${name}; ${rest}`
  return [
    `printf x >> "$([ -d /home/agent ] && echo /home/agent || echo ../home)/runs-${key}"`,
    `seq -f '${key} %g' 1 ${lines}`,
    rest,
    ...writes.map(write),
    ...(removes === null ? [] : [`rm -f ${removes}`]),
    `(exit ${exitCode})`,
  ].join('\n')
}

export const contentOf = (key: string, { name, size }: Step['writes'][number]): string =>
  `${key} ${name} ${size}\n${name.repeat(size)}`

export function outputOf({ key, lines }: Step): string {
  return Array.from({ length: lines }, (_, line) => `${key} ${line + 1}`).join('\n')
}

/** The files after a completed step. */
export function filesAfter(before: Files, { key, writes, removes }: Step): Map<string, string> {
  const files = new Map(before)
  for (const write of writes) files.set(write.name, contentOf(key, write))
  if (removes !== null) files.delete(removes)
  return files
}

/** Whether a file is one that some step wrote, from its first byte to its last. */
export function isWhole(name: string, text: string): boolean {
  const [, size] = new RegExp(`^\\S+ ${name} (\\d+)\\n`).exec(text) ?? []
  const head = text.indexOf('\n') + 1
  return size !== undefined && text.slice(head) === name.repeat(Number(size))
}
