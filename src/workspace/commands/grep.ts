// `grep` takes `--color`, which changes nothing without a terminal, and a folder's name with a slash behind it.

import { type Context, original, type Result } from '../interpreter-command.ts'

export async function grep(args: string[], context: Context): Promise<Result> {
  const plain = args.filter((arg) => !/^--colou?r(=|$)/.test(arg))
  const isRecursive = plain.some((arg) => arg === '--recursive' || /^-[a-zA-Z]*[rR]/.test(arg))
  const folders = new Set(isRecursive ? operands(plain) : [])
  return original('grep', context)(plain.map((arg, i) => (folders.has(i) ? unslashed(arg) : arg)))
}

/** Places of the files and folders: what is neither an option, nor its value, nor the pattern. */
function operands(args: readonly string[]): number[] {
  const found: number[] = []
  let hasPattern = args.some((arg) => /^(-[a-zA-Z]*[ef]|--(regexp|file)(=|$))/.test(arg))
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ''
    if (
      /^(-[a-zA-Z]*[ABCefm]|--(after-context|before-context|context|max-count|regexp|file|include|exclude|exclude-dir))$/.test(
        arg,
      )
    )
      i++
    else if (arg.startsWith('-') && arg !== '-') continue
    else if (!hasPattern) hasPattern = true
    else found.push(i)
  }
  return found
}

function unslashed(path: string): string {
  return path.replace(/(?<=[^/])\/+$/, '')
}
