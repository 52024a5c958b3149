// What commands on the file tree itself read: files, the standard input and the devices that scripts name.

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

/** The path of an operand. A slash or a dot behind a name is only for folders, as everywhere. */
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

/** Of a link what it leads to, or the link where it leads nowhere. */
export function statOrLink({ fs }: ShellCall, path: string): FileStat {
  const own = fs.lstat(path)
  if (own.kind !== 'symlink') return own
  try {
    return fs.stat(path)
  } catch {
    // Nothing is there, or the link leads in a circle: then it stands for itself.
    return own
  }
}
