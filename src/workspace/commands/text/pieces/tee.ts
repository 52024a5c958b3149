// `tee`: what comes in goes out, and into files.

import { shellMessage } from '../../../interpreter-command.ts'
import type { TextCall } from '../call.ts'
import { optionTable, readOptions } from '../options.ts'

// Nothing can interrupt a command here but its end, and no pipe breaks while it writes.
const OPTIONS = optionTable('append=a ignore-interrupts=i p output-error::')

export async function tee(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
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
