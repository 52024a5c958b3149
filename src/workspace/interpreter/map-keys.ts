// `${m[$key]}` where the key holds letters that mean something to the shell: the interpreter would expand the key once more.

import type { Node } from './heads.ts'
import type { Filling } from './transforms.ts'

const KEYED = /^([A-Za-z_]\w*)\[(?:"?\$\{?(\w+)\}?"?|'([^']*)')\]$/
const SPECIAL = /[$`\\"'[\]@*]/

export function isKeyed(node: Node): boolean {
  return node.type === 'ParameterExpansion' && KEYED.test(String(node.parameter))
}

export function keyedValue(node: Node, { shell, temporaries }: Filling): Node | null {
  const { env, arrays, options } = shell.ctx.state
  const [, name = '', variable, written] = KEYED.exec(String(node.parameter)) ?? []
  const array = arrays?.get(name)
  const key = variable === undefined ? written : env.get(variable)
  if (array?.kind !== 'associative' || key === undefined || !SPECIAL.test(key)) return null
  const value = array.elements.get(key)
  const operation = node.operation as { type: string } | null
  if (operation?.type === 'AssignDefault' || (value === undefined && options.nounset)) return null
  return { ...temporaries.hold(value === undefined ? [] : [value], null), operation }
}
