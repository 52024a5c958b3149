// `awk` and `sed`, which every shell has. Loaded on first use.

import type { ShellCommand } from '../shell-extensions.ts'

const awk: ShellCommand['run'] = async (args, call) => (await import('./awk/awk.ts')).runAwk(args, call)
const sed: ShellCommand['run'] = async (args, call) => (await import('./sed/sed.ts')).runSed(args, call)

export const TEXT_PROCESSORS = [
  { name: 'awk', run: awk },
  { name: 'mawk', run: awk },
  { name: 'sed', run: sed },
] as const satisfies readonly ShellCommand[]
