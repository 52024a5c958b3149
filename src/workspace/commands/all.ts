// The commands of the shell that are ours, besides git. Each is loaded when it is used for the first time.

import type { ShellCommand } from '../shell-extensions.ts'
import type { NetworkOptions } from './curl.ts'
import type { ProgramPort } from './javascript/program-port.ts'

export type CommandParts = {
  network: NetworkOptions
  /** Where JavaScript runs. */
  programs: ProgramPort
  /** Of one JavaScript program. */
  scriptTimeoutMs?: number
}

type Run = ShellCommand['run']

export function workspaceCommands({ network, programs, scriptTimeoutMs }: CommandParts): ShellCommand[] {
  const options = { programs, ...(scriptTimeoutMs === undefined ? {} : { timeoutMs: scriptTimeoutMs }) }
  const node = async (): Promise<Run> => {
    const { runNode } = await import('./node.ts')
    return (args, call) => runNode(args, call, options)
  }
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
    lazily('node', node),
    lazily('js', node),
  ]
}

function lazily(name: string, load: () => Promise<Run>): ShellCommand {
  return { name, run: async (args, call) => (await load())(args, call) }
}
