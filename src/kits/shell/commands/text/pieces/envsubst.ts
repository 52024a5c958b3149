// `envsubst`: replaces the names of exported variables by their values.

import { bytesOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { refusal } from '../misuse.ts'
import { optionTable, readOptions } from '../options.ts'

const OPTIONS = optionTable('variables=v')
const REFERENCE = /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/g

export async function envsubst(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  const [format, extra] = given.operands
  if (extra !== undefined) throw refusal('too many arguments')
  const named = format === undefined ? null : new Set([...format.matchAll(REFERENCE)].map(([, a, b]) => a ?? b ?? ''))
  if (given.has('v')) {
    if (named === null) throw refusal('missing arguments')
    call.writeText([...named].map((name) => `${name}\n`).join(''))
    return
  }
  const { exportedEnv = {} } = call.context
  call.write(
    call.stdin.replace(REFERENCE, (whole: string, plain?: string, braced?: string) => {
      const name = plain ?? braced ?? ''
      if (named !== null && !named.has(name)) return whole
      return Object.hasOwn(exportedEnv, name) ? bytesOf(exportedEnv[name] ?? '') : ''
    }),
  )
}
