// `declare -p` for associative arrays, for which the interpreter has its own notation, and for arrays with attributes,
// which it leaves out.

import { joinedResults, type Watched } from './position.ts'
import type { ShellVariables, StepResult } from './shape.ts'
import { asCompound, attributesOf } from './values.ts'

/** Null for any other use. */
export async function declaredMaps(
  shell: Watched,
  args: readonly string[],
  run: () => Promise<StepResult>,
): Promise<StepResult | null> {
  const { state } = shell.ctx
  const names = args.filter((arg) => !arg.startsWith('-'))
  if (args.filter((arg) => arg.startsWith('-')).join(' ') !== '-p') return null
  if (names.length === 0) return listed(shell, await run())
  if (!names.some((name) => isMap(state, name))) return null
  let whole: StepResult = { stdout: '', stderr: '', exitCode: 0 }
  for (const name of names) {
    const one = isMap(state, name) ? said(mapText(state, name)) : await theirs(shell, name)
    whole = joinedResults(whole, one, Math.max(whole.exitCode, one.exitCode))
  }
  return whole
}

async function listed(shell: Watched, result: StepResult): Promise<StepResult> {
  const { state } = shell.ctx
  let { stdout } = result
  for (const name of [...(state.arrays?.keys() ?? [])].filter((one) => isMap(state, one))) {
    const before = await theirs(shell, name)
    stdout = stdout.replace(before.stdout, () => mapText(state, name))
  }
  return { ...result, stdout }
}

const said = (stdout: string): StepResult => ({ stdout, stderr: '', exitCode: 0 })

/** Not through the watched step, which would call this function again. */
function theirs(shell: Watched, name: string): Promise<StepResult> {
  return shell.runCommand('typeset', ['-p', '--', name], [], '')
}

function isMap(state: ShellVariables, name: string): boolean {
  const kind = state.arrays?.get(name)?.kind
  if (kind === undefined || state.namerefs?.has(name)) return false
  return kind === 'associative' || attributesOf(state, name).length > 1
}

function mapText(state: ShellVariables, name: string): string {
  const array = state.arrays?.get(name)
  return array ? `declare -${attributesOf(state, name)} ${name}=${asCompound(array)}\n` : ''
}
