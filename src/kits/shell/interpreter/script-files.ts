// Runs a file with the program in its first line, in a separate shell; and the messages about missing programs.

import { isFileError } from '../../../workspace/file-system.ts'
import { machineAdvice } from '../machine-commands.ts'
import type { Watched } from './position.ts'
import type { StepResult } from './shape.ts'

const NOT_FOUND = 127
const NOT_A_SCRIPT = 126
/** This much of a file shows whether it is text. */
const SAMPLE = 80

/** Explains why a program that needs a machine is missing. */
export function withAdvice(name: string, result: StepResult): StepResult {
  const advice = machineAdvice(name.slice(name.lastIndexOf('/') + 1))
  return advice === null ? result : { ...result, stderr: `${advice}\n` }
}

/**
 * A script file runs in a separate shell, unlike in the interpreter: only with the exported variables, and with the
 * program in its first line.
 */
export async function runFile(
  shell: Watched,
  path: string,
  { args, stdin = '' }: { args: string[]; stdin?: string | undefined },
) {
  const {
    isBinary,
    isFound,
    words: [program = 'bash', ...words],
  } = await firstWords(shell, path)
  if (isBinary) {
    const stderr = `bash: ${shell.position?.wordsFor(path) ?? path}: cannot execute binary file: Exec format error\n`
    return { stdout: '', stderr, exitCode: NOT_A_SCRIPT }
  }
  const name = program.slice(program.lastIndexOf('/') + 1)
  const isShell = /^(ba|da|a|k|z)?sh$/.test(name)
  if (isShell || shell.ctx.commands.has(name)) {
    return shell.runCommand(isShell ? 'bash' : name, [...words, calledPath(shell, path), ...args], [], stdin, true)
  }
  const file = shell.position?.wordsFor(path) ?? path
  const stderr = isFound
    ? `/usr/bin/env: ‘${program}’: No such file or directory\n`
    : `bash: ${file}: cannot execute: required file not found\n`
  return withAdvice(name, { stdout: '', stderr, exitCode: NOT_FOUND })
}

/** A script's own path: the word with which it was called, or that word in the folder of PATH that contains it. */
function calledPath({ ctx, position }: Watched, path: string): string {
  const { calledAs = '' } = position ?? {}
  const { cwd, env } = ctx.state
  const folders = calledAs.includes('/') ? [] : (env.get('PATH') ?? '').split(':')
  const words = [calledAs, ...folders.map((folder) => `${folder || '.'}/${calledAs}`)]
  return words.find((word) => word.includes('/') && ctx.fs.resolvePath(cwd, word) === path) ?? path
}

type FirstLine = { isBinary: boolean; isFound: boolean; words: string[] }

/** The words of the line with the program, if there is one; a wrapper that only finds the program (`isFound`) is left out. */
async function firstWords({ ctx }: Watched, path: string): Promise<FirstLine> {
  try {
    const text = await ctx.fs.readFile(path)
    if (/^(?!#!)[^\n]*\0/.test(text.slice(0, SAMPLE))) return { isBinary: true, isFound: false, words: [] }
    const [, line = ''] = /^#![ \t]*([^\n]*)/.exec(text) ?? []
    const words = line.split(/[ \t]+/).filter(Boolean)
    const isFound = /(^|\/)env$/.test(words[0] ?? '')
    return { isBinary: false, isFound, words: isFound ? words.slice(words[1] === '-S' ? 2 : 1) : words }
  } catch (error) {
    if (isFileError(error)) return { isBinary: false, isFound: false, words: [] }
    throw error
  }
}
