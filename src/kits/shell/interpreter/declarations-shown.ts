// `declare -p` for declared variables without a value, which the interpreter shows as empty or does not find.

import type { Position, Watched } from './position.ts'
import type { ShellVariables, SimpleCommand, StepResult } from './shape.ts'
import { attributesOf } from './values.ts'

const NAME = /^[A-Za-z_]\w*$/
const EMPTY = /^declare -\S+ ([A-Za-z_]\w*)=\(\)$/
const UNTYPED = /^declare -(\S+) ([A-Za-z_]\w*)(?=[=\n]|$)/

/** Before `declare`, `local` and similar: the names in the arguments that are arrays without a value. */
export function noteUnassigned({ arrays }: ShellVariables, { unassigned }: Position, args: readonly string[]): void {
  const letters = args.filter((arg) => /^-\w/.test(arg)).join('')
  for (const arg of args) {
    if (NAME.test(arg)) {
      if (/[aA]/.test(letters) && !arrays?.get(arg)?.elements.size) unassigned.add(arg)
    } else unassigned.delete(arg.replace(/\+?=.*/s, ''))
  }
}

/** `x=()` is a value. */
export function noteAssigned({ unassigned }: Position, { assignments }: SimpleCommand): void {
  if (unassigned.size > 0) for (const { name } of assignments) unassigned.delete(name)
}

/** `export name` of an unset variable leaves it unset. */
export async function exported(
  { ctx }: Watched,
  args: readonly string[],
  run: () => Promise<StepResult>,
): Promise<StepResult> {
  const { env, arrays } = ctx.state
  const unset = args.filter((arg) => NAME.test(arg) && !env.has(arg) && !arrays?.has(arg))
  const result = await run()
  if (args.some((arg) => /^-\w*[np]/.test(arg))) return result
  for (const name of unset) ctx.state.env.delete(name)
  return result
}

/** For the output of `declare -p` with only names as arguments. */
export function withUnassigned(
  { ctx }: Watched,
  { unassigned, cases }: Position,
  { args, result }: { args: readonly string[]; result: StepResult },
): StepResult {
  if (args[0] !== '-p' || args.slice(1).some((arg) => arg.startsWith('-'))) return result
  const { state } = ctx
  const lines = result.stdout.split('\n').map((line) => {
    const name = EMPTY.exec(line)?.[1] ?? ''
    const shown = unassigned.has(name) ? line.slice(0, -'=()'.length) : line
    return shown.replace(UNTYPED, (whole, letters: string, variable: string) => {
      return cases.kinds.get(variable) === 'c' ? `declare -${letters.replace('-', '')}c ${variable}` : whole
    })
  })
  const missing = args.slice(1).filter((name) => NAME.test(name) && attributesOf(state, name) !== '')
  let { stderr } = result
  for (const name of missing) {
    const message = `bash: declare: ${name}: not found\n`
    if (!stderr.includes(message)) continue
    stderr = stderr.replace(message, '')
    lines.splice(-1, 0, `declare -${attributesOf(state, name)} ${name}`)
  }
  return { ...result, stdout: lines.join('\n'), stderr, exitCode: stderr === '' ? 0 : result.exitCode }
}
