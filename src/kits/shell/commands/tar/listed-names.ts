// The names in the files of `-T` and `-X`.

import type { ShellCall } from '../../shell-extensions.ts'
import { readInput } from '../inputs.ts'
import type { TarOptions } from './options.ts'

/** With `-T`, each line is a file name; a line that looks like an option is refused. */
export async function listedNames(options: TarOptions, letter: 'T' | 'X', call: ShellCall): Promise<string[]> {
  const names: string[] = []
  for (const file of options.values(letter)) {
    const text = new TextDecoder().decode(await readInput(call, file))
    const isNull = letter === 'T' && options.has('null')
    names.push(...text.split(isNull ? '\0' : '\n').filter((name) => name !== ''))
    const isPlain = letter === 'X' || isNull || options.has('verbatim')
    const option = isPlain ? undefined : names.find((name) => name.startsWith('-'))
    if (option !== undefined)
      throw new RangeError(`${file}: the option ${option} in a list of files is not available here`)
  }
  return names
}
