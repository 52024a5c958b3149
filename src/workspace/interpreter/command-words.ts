// The word that names a command comes to several words where it is an array (`"${cmd[@]}"`, `"$@"`) or is split (`$run file`), and to
// none where it is empty (`$SUDO ls`). The interpreter takes it for one.

import type { SimpleCommand, StepResult } from './shape.ts'
import type { Filling } from './transforms.ts'
import { literal, type Part, type Word, wordsAlone } from './words-alone.ts'

export function namesByVariable({ name }: SimpleCommand): boolean {
  const parts = (name?.parts ?? []).flatMap((part): Part[] =>
    part.type === 'DoubleQuoted' ? [part, ...part.parts] : [part],
  )
  return (
    parts.some(({ type }) => type === 'ParameterExpansion') && !parts.some(({ type }) => type === 'CommandSubstitution')
  )
}

export async function withWordsOfName(
  node: SimpleCommand,
  { shell, run }: Pick<Filling, 'shell' | 'run'>,
): Promise<SimpleCommand | StepResult> {
  let at = node
  while (at.name !== null && namesByVariable(at)) {
    const found = await wordsAlone(shell, at.name, run)
    if (!Array.isArray(found)) return found
    const words: Word[] = [...found.map(literal), ...at.args]
    at = { ...at, name: words[0] ?? null, args: words.slice(1) }
  }
  return at
}
