// External bytes as the value of a variable: invalid UTF-8 is preserved, and zero bytes, which a variable cannot
// contain, are left out.

import { bytesToText, textToBytes } from '../../../workspace/text-encodings.ts'
import { inBytes } from '../interpreter-command.ts'
import { losslessBytes, losslessText } from '../lossless-text.ts'
import type { Watched } from './position.ts'
import type { StepResult } from './shape.ts'

/** One character per byte. */
export function textTaken(bytes: string): string {
  return losslessText(textToBytes(bytes, 'latin1'))
}

/** For a substitution. */
export function substitutedText({ ctx }: Watched, result: StepResult): StepResult {
  const isText = result.stdoutKind === 'text'
  const text = isText ? result.stdout : textTaken(inBytes(result))
  if (!text.includes('\0')) return isText ? result : { ...result, stdout: text, stdoutKind: 'text' }
  const warning = `bash: line ${ctx.state.currentLine}: warning: command substitution: ignored null byte in input\n`
  return { ...result, stdout: text.replaceAll('\0', ''), stdoutKind: 'text', stderr: result.stderr + warning }
}

/** The output of a command, whose arguments may contain such bytes. */
export function writtenBytes(result: StepResult): StepResult {
  if (result.stdout.isWellFormed()) return result
  const { stdout, stdoutKind } = result
  if (stdoutKind === 'bytes') return result
  return { ...result, stdout: bytesToText(losslessBytes(stdout), 'latin1'), stdoutKind: 'bytes' }
}
