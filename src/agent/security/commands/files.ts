// Commands that write the files that their words name.

import type { Opener } from '../bench.ts'
import { has, isEmptyInput, operandsOf, valuesOf } from '../call.ts'
import { isDevice } from '../paths.ts'

const tee: Opener = ({ args, input }, bench) => {
  const files = operandsOf(args)
  for (const file of files) bench.write(file)
  if (isEmptyInput(input) && !has(args, 'a', '--append') && files.some((file) => !isDevice(file)))
    bench.meet('empties-file')
}

const copy: Opener = ({ name, args }, bench) => {
  const operands = operandsOf(args, 'tSgmo', '--target-directory', '--suffix', '--mode')
  const target = operands.at(-1)
  if (operands.slice(0, -1).includes('/dev/null')) bench.meet('empties-file')
  if (name === 'mv' && target === '/dev/null') bench.meet('deletes-files')
}

const dd: Opener = ({ args, input }, bench) => {
  const value = (key: string) => args.find((arg) => arg.startsWith(`${key}=`))?.slice(key.length + 1)
  const [from, to] = [value('if'), value('of')]
  if (to === undefined) return
  bench.write(to)
  const isEmpty = from === undefined ? isEmptyInput(input) : /^\/dev\/(null|zero|u?random)$/.test(from)
  if ((isEmpty || value('count') === '0') && !isDevice(to)) bench.meet('empties-file')
}

const sort: Opener = ({ args, input }, bench) => {
  const [to] = valuesOf(args, 'o', '--output')
  if (to === undefined) return
  bench.write(to)
  const files = operandsOf(args, 'oktTS', '--output', '--key', '--field-separator')
  const isEmpty = files.length === 0 ? isEmptyInput(input) : files.every((file) => file === '/dev/null')
  if (isEmpty) bench.meet('empties-file')
}

/** Files to which downloads are written. */
const fetched: Opener = ({ name, args }, bench) => {
  const files =
    name === 'wget'
      ? valuesOf(args, 'OoaP', '--output-document', '--directory-prefix')
      : valuesOf(args, 'oDc', '--output', '--output-dir', '--dump-header', '--cookie-jar')
  for (const file of files) bench.write(file)
}

const unpacked: Opener = ({ name, args }, bench) => {
  for (const folder of name === 'tar' ? valuesOf(args, 'C', '--directory') : valuesOf(args, 'd')) bench.write(folder)
}

const changeFolder: Opener = ({ args }, bench) => {
  const [folder = '~'] = operandsOf(args)
  if (folder !== '-') bench.findings.folders.enter(folder)
}

const linked: Opener = ({ args }, bench) => {
  const [target, name] = operandsOf(args, 'tS', '--target-directory', '--suffix')
  if (target === undefined) return
  const own = name === undefined || /(^|\/)\.?$/.test(name) ? target.slice(target.lastIndexOf('/') + 1) : name
  bench.findings.folders.link(own, target)
}

export const FILE_OPENERS: readonly (readonly [string, Opener])[] = [
  ['tee', tee],
  ['cp', copy],
  ['mv', copy],
  ['ln', copy],
  ['ln', linked],
  ['install', copy],
  ['dd', dd],
  ['sort', sort],
  ['curl', fetched],
  ['wget', fetched],
  ['tar', unpacked],
  ['unzip', unpacked],
  ['cd', changeFolder],
  ['pushd', changeFolder],
]
