// `tee`: copies the input to the output and to files.

import { shellMessage } from '../../../interpreter-command.ts'
import type { TextCall } from '../call.ts'
import { curly, Misuse } from '../misuse.ts'
import { optionTable, readOptions } from '../options.ts'

// Nothing can interrupt a command here, and no pipe breaks while it writes.
const OPTIONS = optionTable('append=a ignore-interrupts=i p output-error::')

const MODES: ReadonlySet<string> = new Set(['warn', 'warn-nopipe', 'exit', 'exit-nopipe'])

export async function tee(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  const modes = given.list.filter(({ name }) => name === 'output-error').map(({ value }) => value)
  const wrong = modes.find((mode) => mode !== null && !MODES.has(mode))
  if (wrong != null) throw new Misuse(`invalid argument ${curly(wrong)} for ${curly('--output-error')}`)
  const { fs } = call.context
  const bytes = call.stdin
  for (const name of given.operands) {
    try {
      if (given.has('a')) await fs.appendFile(call.path(name), bytes, 'binary')
      else await fs.writeFile(call.path(name), bytes, 'binary')
    } catch (error) {
      call.complain(`${name}: ${shellMessage(error)}`)
    }
  }
  call.write(bytes)
}
