// `TIMEFORMAT`, the format of the output of `time`. There are no processes, so user and system time are zero.

import type { Watched } from './position.ts'
import type { Pipeline, StepResult } from './shape.ts'

const FORMAT = /%(%|([0-3])?(l)?([RUS])|P)/g
const UNKNOWN = /%(?!%|[0-3]?l?[RUS]|P)(?:[0-3]?l?)([\s\S]?)/

/** Null if the interpreter's own format is used. */
export function timeFormat({ ctx }: Watched, { timed, timePosix }: Pipeline): string | null {
  const format = timed && !timePosix ? ctx.state.env.get('TIMEFORMAT') : undefined
  return format ?? null
}

export function withTime(result: StepResult, format: string, elapsedMs: number): StepResult {
  return { ...result, stderr: result.stderr + formatted(format, elapsedMs) }
}

function formatted(format: string, elapsedMs: number): string {
  if (format === '') return ''
  const unknown = UNKNOWN.exec(format.replaceAll('%%', ''))
  if (unknown) return `bash: TIMEFORMAT: \`${unknown[1] ?? ''}': invalid format character\n`
  const text = format.replace(FORMAT, (_, sign: string, places: string | undefined, long: string | undefined, kind) => {
    if (sign === '%') return '%'
    if (sign === 'P') return '0.00'
    return seconds(kind === 'R' ? elapsedMs : 0, Number(places ?? 3), long !== undefined)
  })
  return `${text}\n`
}

function seconds(ms: number, places: number, isLong: boolean): string {
  // Bash truncates instead of rounding.
  const cut = (value: number) => (Math.floor(value * 10 ** places) / 10 ** places).toFixed(places)
  if (!isLong) return cut(ms / 1000)
  return `${Math.floor(ms / 60_000)}m${cut((ms % 60_000) / 1000)}s`
}
