// `bc`: a calculator with decimals of any length, and its small language.

import { isFileError } from '../../../../../workspace/file-system.ts'
import { textOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { Misuse } from '../misuse.ts'
import { optionTable, readOptions } from '../options.ts'
import { tokensOf } from './lexer.ts'
import { MATH_LIBRARY } from './library.ts'
import { Machine } from './machine.ts'
import { RuntimeError } from './number.ts'
import { Parser } from './parser.ts'
import { ParseError } from './syntax.ts'

// There is no terminal for questions, and there are no warnings.
const OPTIONS = optionTable('mathlib=l quiet=q standard=s warn=w interactive=i')

export async function bc(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  if (given.has('i')) throw new Misuse('option -i (--interactive) is not available here')
  const machine = new Machine((text) => call.writeText(text), call.pause)
  const run = async (source: string, name: string): Promise<boolean> => {
    const parser = new Parser(tokensOf(source))
    for (;;) {
      try {
        const statements = parser.line()
        if (statements === null) return true
        if (!(await machine.run(statements))) return false
      } catch (error) {
        if (error instanceof ParseError) {
          call.complainPlainly(`${name} ${error.line}: ${error.message}`)
          parser.skipLine()
        } else if (error instanceof RuntimeError) call.complainPlainly(`Runtime error: ${error.message}`)
        else throw error
      }
    }
  }
  if (given.has('l')) await run(MATH_LIBRARY, '(library)')
  for (const name of given.operands) {
    const source = await readSource(call, name)
    if (source === null || !(await run(source, name))) return
  }
  await run(textOf(call.stdin), '(standard_in)')
}

async function readSource(call: TextCall, name: string): Promise<string | null> {
  try {
    return textOf(await call.read(name))
  } catch (error) {
    if (!isFileError(error)) throw error
    call.complainPlainly(`File ${name} is unavailable.`)
    call.exitCode = 1
    return null
  }
}
