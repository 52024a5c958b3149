// `sdiff`: two files side by side, which is `diff -y`. Interactive merging (`-o`) is not possible.

import type { TextCall } from '../call.ts'
import { Misuse, refusal } from '../misuse.ts'
import { optionTable, readOptions } from '../options.ts'
import { diff } from './diff.ts'

const OPTIONS =
  optionTable(`output=o: ignore-case=i ignore-tab-expansion=E ignore-trailing-space=Z ignore-space-change=b
  ignore-all-space=W ignore-blank-lines=B strip-trailing-cr text=a width=w: left-column=l suppress-common-lines=s
  expand-tabs=t minimal=d speed-large-files=H`)
const EXIT_TROUBLE = 2
/** Options with another name in `diff`. */
const AS_DIFF: Readonly<Record<string, string>> = {
  ...{ W: '-w', w: '-W', l: '--left-column', s: '--suppress-common-lines', 'strip-trailing-cr': '--strip-trailing-cr' },
}

export async function sdiff(call: TextCall): Promise<void> {
  call.misuseExit = EXIT_TROUBLE
  call.hintPrefix = 'sdiff: '
  const given = readOptions(call.args, OPTIONS)
  if (given.has('o'))
    throw refusal('-o: nobody can be asked here; merge with `diff3 -m` or `git merge-file`', EXIT_TROUBLE)
  const [first, second, extra] = given.operands
  if (first === undefined || second === undefined) throw new Misuse(`missing operand after '${first ?? 'sdiff'}'`)
  if (extra !== undefined) throw new Misuse(`extra operand '${extra}'`)
  const words = given.list.flatMap(({ name, value }) => [
    AS_DIFF[name] ?? `-${name}`,
    ...(value === null ? [] : [value]),
  ])
  call.name = 'diff'
  await diff(call, ['-y', ...words, '--', first, second])
}
