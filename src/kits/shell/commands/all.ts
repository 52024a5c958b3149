// Shell commands that work on the file tree of the workspace, and `curl`. Each is loaded on first use.

import type { ShellCommand } from '../shell-extensions.ts'
import type { NetworkOptions } from './curl/request.ts'
import { lazily, type Run } from './lazily.ts'

export type CommandDeps = { network: NetworkOptions }

export function workspaceCommands({ network }: CommandDeps) {
  const curl = async (): Promise<Run> => {
    const { runCurl } = await import('./curl.ts')
    return (args, call) => runCurl(args, call, network)
  }
  return [
    lazily('curl', curl),
    lazily('tar', async () => (await import('./tar/tar.ts')).runTar),
    lazily('gzip', async () => (await import('./gzip/gzip.ts')).runGzip),
    lazily('gunzip', async () => (await import('./gzip/gzip.ts')).runGunzip),
    lazily('zcat', async () => (await import('./gzip/gzip.ts')).runZcat),
    lazily('zgrep', async () => (await import('./gzip/zgrep.ts')).runZgrep),
    lazily('zegrep', async () => (await import('./gzip/zgrep.ts')).runZegrep),
    lazily('zfgrep', async () => (await import('./gzip/zgrep.ts')).runZfgrep),
    lazily('zless', async () => (await import('./gzip/zgrep.ts')).runZless),
    lazily('zmore', async () => (await import('./gzip/zgrep.ts')).runZless),
    lazily('zdiff', async () => (await import('./gzip/zgrep.ts')).runZdiff),
    lazily('zcmp', async () => (await import('./gzip/zgrep.ts')).runZcmp),
    lazily('zip', async () => (await import('./zip/zip.ts')).runZip),
    lazily('unzip', async () => (await import('./zip/unzip.ts')).runUnzip),
    lazily('patch', async () => (await import('./patch/patch.ts')).runPatch),
  ] as const satisfies readonly ShellCommand[]
}
