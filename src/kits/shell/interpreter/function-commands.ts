// `declare -f`, `declare -F`, and `type` of a function: the interpreter shows no body.

import { exportFunctions, isExported } from './exported-functions.ts'
import { functionText } from './function-text.ts'
import { joinedResults, type Position, type Watched } from './position.ts'
import type { StepResult } from './shape.ts'

const OPTIONS = /^-[fFpxt]*[fF][fFpxt]*$/

/** `declare` with `-f` or `-F`; null for any other use. */
export function declaredFunctions(shell: Watched, position: Position, args: readonly string[]): StepResult | null {
  const options = args.filter((arg) => /^-./.test(arg))
  const letters = options.join('')
  if (options.length === 0 || !options.every((arg) => OPTIONS.test(arg) || /^-[px]$/.test(arg))) return null
  if (!/[fF]/.test(letters)) return null
  const { state } = shell.ctx
  const names = args.filter((arg) => !/^-./.test(arg))
  if (letters.includes('x') && names.length > 0) return exportFunctions(shell, position, ['-f', ...names])
  const isWhole = !letters.includes('F')
  const wanted = names.length > 0 ? names : [...state.functions.keys()].sort()
  const shown = wanted.filter((name) => {
    return state.functions.has(name) && (!letters.includes('x') || isExported(state, name))
  })
  const lines = shown.map((name) => {
    const line = names.length > 0 ? name : `declare -f${isExported(state, name) ? 'x' : ''} ${name}`
    if (!isWhole) return `${line}\n`
    const isMarked = names.length === 0 && isExported(state, name)
    return `${functionText(shell, position, name)}\n${isMarked ? `${line}\n` : ''}`
  })
  return { stdout: lines.join(''), stderr: '', exitCode: names.length === 0 || shown.length === names.length ? 0 : 1 }
}

/** `type` with functions among its arguments, whose bodies the interpreter leaves out or shortens; null for any other use. */
export async function typeOfFunctions(
  shell: Watched,
  position: Position,
  args: readonly string[],
): Promise<StepResult | null> {
  const { functions } = shell.ctx.state
  if (args.some((arg) => arg.startsWith('-')) || !args.some((arg) => functions.has(arg))) return null
  let whole: StepResult = { stdout: '', stderr: '', exitCode: 0 }
  for (const name of args) {
    const stdout = `${name} is a function\n${functionText(shell, position, name)}\n`
    const one = functions.has(name)
      ? { stdout, stderr: '', exitCode: 0 }
      : await shell.runCommand('type', [name], [false], '')
    whole = joinedResults(whole, one, Math.max(whole.exitCode, one.exitCode))
  }
  return whole
}
