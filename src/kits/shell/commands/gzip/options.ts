// The command lines of `gzip` and related commands.

import { type GnuOptions, type GnuSpec, readGnuOptions } from '../gnu-options.ts'

const SPEC: GnuSpec = {
  name: 'gzip',
  letters: 'dcktlvrqfnNaS:123456789hV',
  long: {
    ...{ decompress: 'd', uncompress: 'd', stdout: 'c', 'to-stdout': 'c', keep: 'k', test: 't', list: 'l' },
    ...{ verbose: 'v', recursive: 'r', quiet: 'q', force: 'f', 'no-name': 'n', name: 'N', 'suffix=': 'S' },
    ...{ fast: '1', best: '9', rsyncable: 'same', ascii: 'a', version: 'V', help: 'h' },
  },
}

export type ReadGzipOptions = { ok: true; read: GnuOptions } | { ok: false; stderr: string; exitCode: number }

export function gzipOptions(args: readonly string[]): ReadGzipOptions {
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) return { ...read, stderr: read.stderr.replace(/Try '(.*)'/, "Try `$1'") }
  const refused = read.given.find(({ name }) => 'aVh'.includes(name))?.name
  if (refused === undefined) return { ok: true, read }
  const stderr = `gzip: ${refused === 'a' ? '--ascii' : refused === 'V' ? '--version' : '--help'} is not available here\n`
  return { ok: false, stderr, exitCode: 1 }
}

export function levelOf({ given }: GnuOptions): number {
  return Number(given.findLast(({ name }) => /^\d$/.test(name))?.name ?? 6)
}
