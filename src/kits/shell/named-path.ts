// The path that a word of a script names.

import { resolvePath as joined } from '../../workspace/paths.ts'

/**
 * The path of an empty name: nothing exists there and nothing can be created. An empty name does not mean the current
 * folder.
 */
export const NOWHERE = '/dev/-no-name-'

export function resolvePath(cwd: string, name: string): string {
  return name === '' ? NOWHERE : joined(cwd, name)
}
