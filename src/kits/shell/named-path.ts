// The path that a word of a script names.

import { resolvePath as joined } from '../../workspace/paths.ts'

/** Where nothing is and nothing can be made: what an empty name leads to. It is no name of the folder that one is in. */
export const NOWHERE = '/dev/-no-name-'

export function resolvePath(cwd: string, name: string): string {
  return name === '' ? NOWHERE : joined(cwd, name)
}
