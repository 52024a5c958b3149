// `tac`: the last line first. `rev`: the last character first.

import { bytesOf, charsOf } from './bytes.ts'
import type { TextCall } from './call.ts'
import { refusal } from './misuse.ts'
import { optionTable, readOptions } from './options.ts'

const TAC = optionTable('before=b separator=s:')
const REV = optionTable('zero=0')

export async function tac(call: TextCall): Promise<void> {
  const given = readOptions(call.args, TAC)
  const separator = bytesOf(given.value('s') ?? '\n')
  if (separator === '') throw refusal('separator cannot be empty')
  for (const name of given.operands.length > 0 ? given.operands : ['-']) {
    const bytes = await call.input(name, (reason) =>
      reason === 'Is a directory'
        ? `${name}: read error: Invalid argument`
        : `failed to open '${name}' for reading: ${reason}`,
    )
    if (bytes === null) continue
    const parts = bytes.split(separator)
    const last = parts.length - 1
    // A separator belongs to the record before it, or with -b to the one after it.
    const records = given.has('b')
      ? parts.map((part, i) => (i === 0 ? part : separator + part))
      : parts.map((part, i) => (i === last ? part : part + separator))
    call.write(records.reverse().join(''))
  }
}

export async function rev(call: TextCall): Promise<void> {
  const given = readOptions(call.args, REV)
  const end = given.has('0') ? '\0' : '\n'
  for (const name of given.operands.length > 0 ? given.operands : ['-']) {
    const bytes = await call.input(name, (reason) => `cannot open ${name}: ${reason}`)
    if (bytes === null) continue
    call.write(
      bytes
        .split(end)
        .map((line) => charsOf(line).reverse().join(''))
        .join(end),
    )
  }
}
