/** An error that ends a command with one sentence for the user, and no stack. */
export class Fault extends Error {
  override readonly name = 'Fault'
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The `Fault` for a full disk, from any operation; null for every other error. */
export function outOfRoom(error: unknown): Fault | null {
  const code = error instanceof Error && 'code' in error ? error.code : null
  const path = error instanceof Error && 'path' in error ? String(error.path) : null
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return null
  return new Fault(`The disk is full${path === null ? '' : `: ${path} cannot be written`}. Make room and start again.`)
}
