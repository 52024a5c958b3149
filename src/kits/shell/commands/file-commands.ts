// Commands for files, times and data. Each is loaded on first use.

import type { Context, Result } from '../interpreter-command.ts'
import { versionText } from './versions.ts'

type Run = (args: string[], context: Context) => Promise<Result>

const lazily =
  (load: () => Promise<Run>): Run =>
  async (args, context) =>
    (await load())(args, context)

const COMMANDS = {
  chmod: lazily(async () => (await import('./files/chmod.ts')).chmod),
  cp: lazily(async () => (await import('./files/cp.ts')).cp),
  date: lazily(async () => (await import('./date.ts')).date),
  dd: lazily(async () => (await import('./files/dd.ts')).dd),
  install: lazily(async () => (await import('./files/install.ts')).install),
  jq: lazily(async () => (await import('./jq.ts')).jq),
  ln: lazily(async () => (await import('./files/ln.ts')).ln),
  mkdir: lazily(async () => (await import('./files/mkdir.ts')).mkdir),
  mv: lazily(async () => (await import('./files/mv.ts')).mv),
  rm: lazily(async () => (await import('./files/rm.ts')).rm),
  rmdir: lazily(async () => (await import('./files/rm.ts')).rmdir),
  touch: lazily(async () => (await import('./files/touch.ts')).touch),
  truncate: lazily(async () => (await import('./files/truncate.ts')).truncate),
} satisfies Readonly<Record<string, Run>>

type Name = keyof typeof COMMANDS

export const FILE_COMMANDS: Readonly<Record<Name, Run>> = {
  ...COMMANDS,
  ...Object.fromEntries(Object.entries(COMMANDS).map(([name, run]) => [name, withVersion(name, run)])),
}

function withVersion(name: string, run: Run): Run {
  return async (args, context) => {
    const version = versionText(name, args)
    return version === null ? run(args, context) : { stdout: version, stderr: '', exitCode: 0 }
  }
}
