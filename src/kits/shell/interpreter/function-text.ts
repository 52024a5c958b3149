// The text of a function in bash's format.

import type { Position, Watched } from './position.ts'
import { functionAsText } from './script-text.ts'

export function functionText({ ctx }: Pick<Watched, 'ctx'>, position: Position, name: string): string {
  const definition = ctx.state.functions.get(name)
  return definition ? functionAsText(definition, position.textOf) : name
}
