// Commands that every shell has and that work on the file tree itself: they look at many files, which takes too long through
// the interpreter. Each is loaded when it is used for the first time, and sees `/bin`, `/usr` and `/dev` as well.

import type { ShellCommand } from '../shell-extensions.ts'
import { withProperty } from '../standard-streams.ts'
import { versionText } from './versions.ts'

type Run = ShellCommand['run']

export const SEARCH_COMMANDS = [
  lazily('grep', async () => (await import('./grep/grep.ts')).runGrep),
  lazily('egrep', async () => (await import('./grep/grep.ts')).runEgrep),
  lazily('fgrep', async () => (await import('./grep/grep.ts')).runFgrep),
  lazily('find', async () => (await import('./find/find.ts')).runFind),
  lazily('stat', async () => (await import('./stat.ts')).runStat),
  lazily('du', async () => (await import('./du.ts')).runDu),
  lazily('realpath', async () => (await import('./path-names.ts')).runRealpath),
  lazily('readlink', async () => (await import('./path-names.ts')).runReadlink),
  lazily('basename', async () => (await import('./path-names.ts')).runBasename),
  lazily('dirname', async () => (await import('./path-names.ts')).runDirname),
  lazily('tree', async () => (await import('./tree/tree.ts')).runTree),
  lazily('rg', async () => (await import('./rg/rg.ts')).runRg),
] as const satisfies readonly ShellCommand[]

function lazily<Name extends string>(name: Name, load: () => Promise<Run>): { name: Name; run: Run } {
  const run: Run = async (args, call) => {
    const version = versionText(name, args)
    if (version !== null) return { stdout: version, stderr: '', exitCode: 0 }
    return (await load())(args, withProperty(call, 'fs', call.wholeTree))
  }
  return { name, run }
}
