// `sleep` like GNU's: the interpreter's version supports neither `.5` nor `1e-1`.

import { type Context, original, type Result } from '../interpreter-command.ts'
import { type GnuSpec, misuse, readGnuOptions } from './gnu-options.ts'

const SPEC: GnuSpec = {
  name: 'sleep',
  letters: '',
  long: { help: 'help' },
  stopsAtOperand: false,
  exitCode: 1,
}
const SECONDS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 }
const DURATION = /^\+?((?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|inf(?:inity)?)([smhd]?)$/i
/** About the maximum of a timer; the time limit of a script is much lower. */
const LONGEST = 2_000_000

export async function sleep(args: string[], context: Context): Promise<Result> {
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  if (read.has('help')) return { stdout: 'Usage: sleep NUMBER[SUFFIX]...\n', stderr: '', exitCode: 0 }
  if (read.operands.length === 0) return misuse(SPEC, 'missing operand')
  const wrong = read.operands.filter((operand) => !DURATION.test(operand))
  const told = wrong.map((operand) => `invalid time interval ‘${operand}’`)
  if (told.length > 0) return misuse(SPEC, told.join('\nsleep: '))
  const seconds = read.operands.reduce((sum, operand) => sum + secondsOf(operand), 0)
  return original('sleep', context)([Math.min(seconds, LONGEST).toFixed(3)])
}

function secondsOf(duration: string): number {
  const [, number = '0', unit = ''] = DURATION.exec(duration) ?? []
  return /^inf/i.test(number) ? LONGEST : Number(number) * (SECONDS[unit] ?? 1)
}
