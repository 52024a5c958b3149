// Commands that work directly on the file tree: they read many files, which would take too long through the
// interpreter. Each is loaded on first use, and also sees `/bin`, `/usr` and `/dev`.

import type { ShellCommand } from '../shell-extensions.ts'
import { withProperty } from '../standard-streams.ts'
import { lazily, type Run } from './lazily.ts'

export const SEARCH_COMMANDS = [
  seeingAll('grep', async () => (await import('./grep/grep.ts')).runGrep),
  seeingAll('egrep', async () => (await import('./grep/grep.ts')).runEgrep),
  seeingAll('fgrep', async () => (await import('./grep/grep.ts')).runFgrep),
  seeingAll('find', async () => (await import('./find/find.ts')).runFind),
  seeingAll('stat', async () => (await import('./stat.ts')).runStat),
  seeingAll('du', async () => (await import('./du.ts')).runDu),
  seeingAll('realpath', async () => (await import('./path-names.ts')).runRealpath),
  seeingAll('readlink', async () => (await import('./path-names.ts')).runReadlink),
  seeingAll('basename', async () => (await import('./path-names.ts')).runBasename),
  seeingAll('dirname', async () => (await import('./path-names.ts')).runDirname),
  seeingAll('tree', async () => (await import('./tree/tree.ts')).runTree),
  seeingAll('rg', async () => (await import('./rg/rg.ts')).runRg),
] as const satisfies readonly ShellCommand[]

function seeingAll<Name extends string>(name: Name, load: () => Promise<Run>): { name: Name; run: Run } {
  return lazily(name, async () => {
    const run = await load()
    return (args, call) => run(args, withProperty(call, 'fs', call.wholeTree))
  })
}
