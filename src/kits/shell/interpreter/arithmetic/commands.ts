// Built-in commands whose arguments are expressions or large numbers: `let`, `[` and `test`.

import type { Watched } from '../position.ts'
import type { CommandCall, StepResult } from '../shape.ts'
import { evaluateText, saidOf } from './expression.ts'
import type { Int } from './int64.ts'
import { declaredIntegers } from './integers.ts'
import { ArithmeticError } from './scanner.ts'

export function runLet(shell: Watched, given: readonly string[]): StepResult {
  const args = given[0] === '--' ? given.slice(1) : given
  let last: Int = 0
  try {
    if (args.length === 0) throw new ArithmeticError('expression expected')
    for (const text of args) last = evaluateText(shell, text)
  } catch (error) {
    if (!(error instanceof ArithmeticError)) throw error
    return { stdout: '', stderr: saidOf(shell, error, 'let: '), exitCode: 1 }
  }
  return { stdout: '', stderr: '', exitCode: last === 0 ? 1 : 0 }
}

type NamedStep = { call: CommandCall; run: () => Promise<StepResult> }

/** A value assigned to an integer variable is an expression. */
export async function declareIntegers(shell: Watched, { call, run }: NamedStep): Promise<StepResult> {
  const integers = declaredIntegers(shell, call[1], call[2])
  if (integers === null) return run()
  call[1] = integers.args
  const result = await run()
  integers.keep()
  return result
}

/** `[` and `test`; the library's own versions support numbers of 53 bits. */
export async function compare({ call, run }: NamedStep): Promise<StepResult> {
  const [name, args] = call
  const words = withShortNumbers(name, args)
  if (words !== null && !Array.isArray(words)) return words
  if (words !== null) call[1] = words
  return run()
}

const COMPARES = /^-(?:eq|ne|lt|le|gt|ge)$/
const IS_LONG = /^\s*[-+]?\d{16,}\s*$/
const IS_WHOLE = /^\s*[-+]?\d+\s*$/
const [LEAST, MOST] = [-(2n ** 63n), 2n ** 63n - 1n]

/**
 * `[ a -gt b ]` with numbers too long for the library, which gets the result of the comparison as short numbers
 * instead. Null without such numbers.
 */
function withShortNumbers(name: string, args: readonly string[]): string[] | StepResult | null {
  if (!args.some((arg) => IS_LONG.test(arg))) return null
  const words = [...args]
  for (let at = 1; at < words.length - 1; at++) {
    const [left = '', right = ''] = [words[at - 1], words[at + 1]]
    if (!COMPARES.test(words[at] ?? '') || !(IS_LONG.test(left) || IS_LONG.test(right))) continue
    for (const word of [left, right]) if (IS_WHOLE.test(word) && !isInRange(word)) return refused(name, word)
    if (!IS_WHOLE.test(left) || !IS_WHOLE.test(right)) continue
    const difference = BigInt(signed(left)) - BigInt(signed(right))
    words[at - 1] = difference === 0n ? '0' : difference < 0n ? '-1' : '1'
    words[at + 1] = '0'
  }
  return words
}

const signed = (word: string): string => word.trim().replace(/^\+/, '')

function isInRange(word: string): boolean {
  const value = BigInt(signed(word))
  return value >= LEAST && value <= MOST
}

function refused(name: string, word: string): StepResult {
  return { stdout: '', stderr: `bash: ${name}: ${word}: integer expression expected\n`, exitCode: 2 }
}
