// `$(< file)`: the interpreter reads the file by itself, keeps bytes of zero, and says nothing of a file that is not there. As
// `$(cat < file)` it is read like every other redirection.

import type { Command } from './shape.ts'

type Word = Extract<Command, { type: 'SimpleCommand' }>['name']

/** What this module reads of a part of a script, whatever its type. */
type Part = {
  type?: unknown
  body?: unknown
  statements?: readonly { pipelines: readonly { commands: readonly Part[] }[]; background?: boolean }[]
  name?: Word
  assignments?: readonly unknown[]
  redirections?: readonly { operator: string; fd: number | null }[]
}

/** The body of a substitution that is nothing but one `<` gets a command. */
export function readByCat(node: Part): void {
  if (node.type !== 'CommandSubstitution' || typeof node.body !== 'object' || node.body === null) return
  const [statement, ...others] = (node.body as Part).statements ?? []
  const [pipeline, ...more] = statement?.pipelines ?? []
  const [command, ...stages] = pipeline?.commands ?? []
  if (command?.type !== 'SimpleCommand' || others.length + more.length + stages.length > 0) return
  const { name, assignments = [], redirections = [] } = command
  const [only, ...rest] = redirections
  if (name !== null || assignments.length + rest.length > 0 || only?.operator !== '<' || (only.fd ?? 0) !== 0) return
  command.name = { type: 'Word', parts: [{ type: 'Literal', value: 'cat' }] } as Word
}
