// The arguments of `declare`, `local`, `export` and `readonly`, before the interpreter gets them: errors are reported
// like in bash, and the rest is executed.

import { joinedResults } from './position.ts'
import type { CommandCall, ShellVariables, StepResult } from './shape.ts'

const NAME = /^([A-Za-z_]\w*)(?:\[.*\])?(?:\+?=|$)/s
/** Their name is part of the message about a read-only variable. */
const NAMED: ReadonlySet<string> = new Set(['declare', 'typeset', 'local'])
const USAGES: Readonly<Record<string, string>> = {
  declare: '[-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]',
  typeset: '[-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]',
  local: '[option] name[=value] ...',
  export: '[-fn] [name[=value] ...] or export -p',
  readonly: '[-aAf] [name[=value] ...] or readonly -p',
}

type Declaring = {
  call: CommandCall
  run: () => Promise<StepResult>
  runAs: (call: CommandCall) => Promise<StepResult>
}

export async function asDeclarable<Step extends Declaring>(
  state: ShellVariables,
  step: Step,
  run: (as: Step) => StepResult | Promise<StepResult>,
): Promise<StepResult> {
  const [name, args, quoted, ...rest] = step.call
  const letters = args.filter((arg) => /^[-+]\w/.test(arg)).join('')
  if (/[fFp]/.test(letters)) return withUsage(name, await run(step))
  const refusals = args.map((arg) => refusal(state, arg, { name, letters }))
  if (refusals.every((one) => one === null)) {
    const names = args.filter((arg) => /^\+\w*i/.test(letters) && !/^[-+]/.test(arg))
    const result = withUsage(name, await run(lists(args, name) ? listing(step) : step))
    for (const one of names) state.integerVars?.delete(NAME.exec(one)?.[1] ?? one)
    return result
  }
  const stderr = refusals.map((one) => (one === null ? '' : `bash: ${one}\n`)).join('')
  const failure: StepResult = { stdout: '', stderr, exitCode: 1 }
  const left = args.filter((_, i) => refusals[i] === null)
  if (left.every((arg) => /^[-+]/.test(arg))) return failure
  const call: CommandCall = [name, left, quoted.filter((_, i) => refusals[i] === null), ...rest]
  return joinedResults(failure, await run({ ...step, call, run: () => step.runAs(call) }), 1)
}

type Use = { name: string; letters: string }

/** Null for a valid argument. */
function refusal({ readonlyVars, arrays }: ShellVariables, arg: string, { name, letters }: Use): string | null {
  if (/^[-+]/.test(arg) && arg.length > 1) return null
  const [whole = '', variable] = NAME.exec(arg) ?? []
  if (variable === undefined) return `${name}: \`${arg}': not a valid identifier`
  const makesWritable = /\+\w*r/.test(letters)
  if (readonlyVars?.has(variable) && (makesWritable || whole.endsWith('=') || name === 'local')) {
    return `${NAMED.has(name) ? `${name}: ` : ''}${variable}: readonly variable`
  }
  const kind = name === 'local' ? undefined : arrays?.get(variable)?.kind
  if (kind === 'associative' && letters.includes('a')) {
    return `${name}: ${variable}: cannot convert associative to indexed array`
  }
  if (kind === 'indexed' && letters.includes('A')) {
    return `${name}: ${variable}: cannot convert indexed to associative array`
  }
  return null
}

/** With only letters, `declare` lists the variables with all these attributes. */
const lists = (args: readonly string[], name: string): boolean =>
  (name === 'declare' || name === 'typeset') && args.length > 0 && args.every((arg) => /^-[aAilnrux]+$/.test(arg))

function listing<Step extends Declaring>(step: Step): Step {
  const [name, args, quoted, ...rest] = step.call
  const call: CommandCall = [name, ['-p', ...args], [false, ...quoted], ...rest]
  return { ...step, call, run: () => step.runAs(call) }
}

function withUsage(name: string, result: StepResult): StepResult {
  if (result.exitCode === 0) return result
  const named = result.stderr.replace(/^bash: (?:typeset|declare): /gm, `bash: ${name}: `)
  const usage = named.endsWith(': invalid option\n') ? `${name}: usage: ${name} ${USAGES[name] ?? ''}\n` : ''
  return { ...result, stderr: named + usage }
}
