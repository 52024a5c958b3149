// A function of a shell as bash would show it.

import type { Position, Watched } from './position.ts'
import { functionAsText } from './script-text.ts'

export function functionText({ ctx }: Pick<Watched, 'ctx'>, position: Position, name: string): string {
  const definition = ctx.state.functions.get(name)
  return definition ? functionAsText(definition, position.textOf) : name
}
