// A command that is loaded on first use. Its version is printed without loading it.

import type { ShellCommand } from '../shell-extensions.ts'
import { versionText } from './versions.ts'

export type Run = ShellCommand['run']

export function lazily<Name extends string>(name: Name, load: () => Promise<Run>): { name: Name; run: Run } {
  const run: Run = async (args, call) => {
    const version = versionText(name, args)
    return version === null ? (await load())(args, call) : { stdout: version, stderr: '', exitCode: 0 }
  }
  return { name, run }
}
