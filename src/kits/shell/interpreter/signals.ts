// The signals and events for traps, with the names and numbers of Linux. No signals arrive here, but a script can still
// set and list traps for them.

const STANDARD =
  'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS'
const RT_MIN = 34
const RT_MAX = 64
const PER_LINE = 5

const NAMES: ReadonlyMap<number, string> = new Map([
  ...STANDARD.split(' ').map((name, i) => [i + 1, name] as const),
  ...Array.from({ length: RT_MAX - RT_MIN + 1 }, (_, i) => [RT_MIN + i, realTimeName(RT_MIN + i)] as const),
])
/** Events of the shell itself. The numbers only determine their position in lists. */
const EVENTS: ReadonlyMap<number, string> = new Map([
  [0, 'EXIT'],
  [65, 'DEBUG'],
  [66, 'ERR'],
  [67, 'RETURN'],
])

function realTimeName(number: number): string {
  const [fromMin, fromMax] = [number - RT_MIN, RT_MAX - number]
  if (fromMin < 16) return fromMin === 0 ? 'RTMIN' : `RTMIN+${fromMin}`
  return fromMax === 0 ? 'RTMAX' : `RTMAX-${fromMax}`
}

const NUMBERS: ReadonlyMap<string, number> = new Map([...NAMES, ...EVENTS].map(([number, name]) => [name, number]))

/** The name without `SIG`, for a name or a number from a script. */
export function signalName(given: string): string | null {
  if (/^\d+$/.test(given)) return Number(given) === 0 ? 'EXIT' : (NAMES.get(Number(given)) ?? null)
  const name = given.toUpperCase().replace(/^SIG/, '')
  return NUMBERS.has(name) ? name : null
}

export function signalNumber(name: string): number {
  return NUMBERS.get(name) ?? 0
}

/** In the order in which traps are listed. */
export function bySignalNumber(a: string, b: string): number {
  return signalNumber(a) - signalNumber(b)
}

export function fullName(name: string): string {
  return [...EVENTS.values()].includes(name) ? name : `SIG${name}`
}

/** The output of `trap -l`. */
export function signalTable(): string {
  const cells = [...NAMES].map(([number, name]) => `${String(number).padStart(2)}) SIG${name}`)
  const lines: string[] = []
  for (let from = 0; from < cells.length; from += PER_LINE) lines.push(cells.slice(from, from + PER_LINE).join('\t'))
  if (cells.length % PER_LINE > 0) lines.push(`${lines.pop()}\t`)
  return `${lines.join('\n')}\n`
}
