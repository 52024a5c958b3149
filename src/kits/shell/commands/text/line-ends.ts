// `dos2unix` and `unix2dos`: converts line ends, in place or from the input to the output.

import { shellMessage } from '../../interpreter-command.ts'
import type { TextCall } from './call.ts'
import { refusal } from './misuse.ts'
import { optionTable, readOptions } from './options.ts'

const OPTIONS = optionTable('force=f keepdate=k quiet=q newfile=n oldfile=o to-stdout=O verbose=v')
const MARK = '\xef\xbb\xbf'

export async function lineEnds(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  const mode = given.lastOf('no')
  const convert = call.name === 'dos2unix' ? toUnix : toDos
  if (given.operands.length === 0) return call.write(convert(call.stdin))
  if (mode === 'n' && given.operands.length % 2 !== 0) throw refusal('target of file missing in new-file mode', 1)
  const pairs = mode === 'n' ? pairsOf(given.operands) : given.operands.map((name) => [name, name] as const)
  for (const [from, to] of pairs) {
    const bytes = await readFile(call, from)
    if (bytes === null) continue
    if (bytes.includes('\0') && !given.has('f')) {
      if (!given.has('q')) call.complainPlainly(`${call.name}: Skipping binary file ${from}`)
      continue
    }
    if (given.has('O')) {
      call.write(convert(bytes))
      continue
    }
    const target = call.path(to)
    const stat = from === to ? await call.context.fs.stat(target) : null
    await call.save(to, convert(bytes))
    if (stat && given.has('k')) await call.context.fs.utimes(target, stat.mtime, stat.mtime)
    const kind = call.name === 'dos2unix' ? 'Unix' : 'DOS'
    const what = from === to ? `file ${from}` : `file ${from} to file ${to} in`
    if (!given.has('q'))
      call.complainPlainly(`${call.name}: converting ${what} ${from === to ? 'to ' : ''}${kind} format...`)
  }
}

async function readFile(call: TextCall, name: string): Promise<string | null> {
  try {
    return await call.read(name)
  } catch (error) {
    call.complain(`${name}: ${shellMessage(error)}`, 2)
    return null
  }
}

/** A byte order mark is removed too, because it has no use there. */
const toUnix = (bytes: string): string =>
  (bytes.startsWith(MARK) ? bytes.slice(MARK.length) : bytes).replaceAll('\r\n', '\n')
const toDos = (bytes: string): string => bytes.replace(/\r?\n/g, '\r\n')

function pairsOf(names: readonly string[]): (readonly [string, string])[] {
  return names.flatMap((name, i) => (i % 2 === 0 ? [[name, names[i + 1] ?? ''] as const] : []))
}
