// The inputs of commands on the file tree: files, the standard input and the devices used by scripts.

import type { FileStat } from '../../../workspace/file-system.ts'
import { resolvePath } from '../named-path.ts'
import type { ShellCall } from '../shell-extensions.ts'

const DEVICES: ReadonlySet<string> = new Set([
  '/dev/null',
  '/dev/stdin',
  '/dev/zero',
  '/dev/tty',
  '/dev/stdout',
  '/dev/stderr',
])
const STDIN = /^\/dev\/stdin$|^\/(?:dev|proc\/self)\/fd\/0$/

/** The path of an operand. A trailing slash or dot is only valid for folders, as everywhere. */
export function pathOf({ cwd }: ShellCall, name: string): string {
  return resolvePath(cwd, name)
}

export function isDevice(path: string): boolean {
  return DEVICES.has(path) || STDIN.test(path)
}

export async function readInput(call: ShellCall, name: string): Promise<Uint8Array> {
  const path = pathOf(call, name)
  if (name === '-' || STDIN.test(path)) return call.stdinBytes
  return isDevice(path) ? new Uint8Array() : call.fs.read(path)
}

/** The target of a link, or the link itself if it is broken. */
export function statOrLink({ fs }: ShellCall, path: string): FileStat {
  const own = fs.lstat(path)
  if (own.kind !== 'symlink') return own
  try {
    return fs.stat(path)
  } catch {
    // The target does not exist, or the link is in a loop: then the link itself is used.
    return own
  }
}
