/** What stops a command with one sentence for the person who ran it, and no stack. */
export class Fault extends Error {
  override readonly name = 'Fault'
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
