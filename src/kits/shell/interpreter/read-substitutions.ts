// `$(< file)`: the interpreter reads the file itself, keeps zero bytes, and does not report a missing file. As `$(cat <
// file)` it is read like every other redirection.

import type { Command } from './shape.ts'

type Word = Extract<Command, { type: 'SimpleCommand' }>['name']

/** The fields of a part that this module reads, for all types. */
type Part = {
  type?: unknown
  body?: unknown
  statements?: readonly { pipelines: readonly { commands: readonly Part[] }[]; background?: boolean }[]
  name?: Word
  assignments?: readonly unknown[]
  redirections?: readonly { operator: string; fd: number | null }[]
}

/** The body of a substitution with only one `<` gets a command. */
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
