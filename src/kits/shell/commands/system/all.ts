// Small system programs that scripts expect. Each is loaded on first use.

import type { ShellCommand, ShellResult } from '../../shell-extensions.ts'
import { lazily, type Run } from '../lazily.ts'

export const SYSTEM_COMMANDS = [
  lazily('chown', async () => (await import('./owners.ts')).runChown),
  lazily('chgrp', async () => (await import('./owners.ts')).runChgrp),
  lazily('file', async () => (await import('../file/file.ts')).runFile),
  lazily('flock', async () => (await import('./flock.ts')).runFlock),
  lazily('getopt', async () => (await import('./getopt.ts')).runGetopt),
  lazily('link', async () => (await import('./names.ts')).runLink),
  lazily('sync', async () => (await import('./names.ts')).runSync),
  lazily('unlink', async () => (await import('./names.ts')).runUnlink),
  lazily('tput', async () => (await import('./terminal.ts')).runTput),
  lazily('tty', async () => (await import('./terminal.ts')).runTty),
  refused('df', 'the file tree lies on no disk; `du -sh .` tells how large it is'),
  refused('mkfifo', 'there are no pipes with names; use a file, or `a | b`'),
  refused('mknod', 'there are files, folders and links alone'),
] as const satisfies readonly ShellCommand[]

/** An unavailable program, with advice. */
function refused<Name extends string>(name: Name, advice: string): { name: Name; run: Run } {
  const said: ShellResult = { stdout: '', stderr: `${name}: not available here: ${advice}\n`, exitCode: 127 }
  return { name, run: async () => said }
}
