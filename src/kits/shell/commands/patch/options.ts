// The command line of `patch`.

import { type GnuOptions, type GnuSpec, readGnuOptions } from '../gnu-options.ts'
import type { PatchForm } from './read.ts'

const SPEC: GnuSpec = {
  name: 'patch',
  letters: 'Rsp:i:d:F:o:r:z:NfutbEcnlevY:B:D:g:V:T',
  long: {
    ...{ reverse: 'R', silent: 's', quiet: 's', 'strip=': 'p', 'input=': 'i', 'directory=': 'd', 'fuzz=': 'F' },
    ...{ 'output=': 'o', 'reject-file=': 'r', 'suffix=': 'z', forward: 'N', force: 'f', batch: 't', unified: 'u' },
    ...{ backup: 'b', 'remove-empty-files': 'E', context: 'c', normal: 'n', 'dry-run': 'dry', binary: 'binary' },
    ...{ 'no-backup-if-mismatch': 'no-backup', 'backup-if-mismatch': 'with-backup', 'ignore-whitespace': 'l' },
    ...{ ed: 'e', verbose: 'verbose', posix: 'posix', 'merge=?': 'merge', 'prefix=': 'B', 'basename-prefix=': 'Y' },
    ...{ 'ifdef=': 'D', 'get=': 'g', 'version-control=': 'V', 'set-time': 'T', 'set-utc': 'T', version: 'v' },
    ...{ 'reject-format=': 'reject-format', 'read-only=': 'read-only', 'follow-symlinks': 'follow', help: 'v' },
  },
  exitCode: 2,
}

const REFUSED: Readonly<Record<string, string>> = {
  ...{ l: '--ignore-whitespace', e: '--ed', verbose: '--verbose', posix: '--posix', merge: '--merge', B: '--prefix' },
  ...{ Y: '--basename-prefix', D: '--ifdef', g: '--get', V: '--version-control', T: '--set-time', v: '--version' },
  ...{ 'reject-format': '--reject-format', 'read-only': '--read-only', follow: '--follow-symlinks' },
}

export interface PatchOptions {
  isReversed: boolean
  isDry: boolean
  isSilent: boolean
  isForward: boolean
  isForced: boolean
  isBatch: boolean
  isBinary: boolean
  /** The only kind of diff to be read, if one was given. */
  form: PatchForm | null
  removesEmpty: boolean
  backup: 'always' | 'mismatch' | 'never'
  suffix: string
  strip: number | null
  fuzz: number
  input: string | null
  folder: string
  /** The file to patch instead of the one in the patch. */
  file: string | null
  output: string | null
  rejects: string | null
}

export type ReadPatchOptions = { ok: true; options: PatchOptions } | { ok: false; stderr: string; exitCode: number }

export function patchOptions(args: readonly string[]): ReadPatchOptions {
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) {
    const stderr = read.stderr.replace(/Try '(.*)' for/, "patch: Try '$1' for")
    return { ok: false, stderr, exitCode: 2 }
  }
  const refused = read.given.find(({ name }) => Object.hasOwn(REFUSED, name))?.name
  const problem =
    refused !== undefined
      ? `option ${REFUSED[refused]} is not available here`
      : (wrongNumber(read, 'p', 'strip count') ?? wrongNumber(read, 'F', 'fuzz factor'))
  if (problem !== null) return { ok: false, stderr: `patch: **** ${problem}\n`, exitCode: 2 }
  const [file = null, second = null, extra] = read.operands
  if (extra !== undefined) {
    return {
      ok: false,
      stderr: `patch: ${extra}: extra operand\npatch: Try 'patch --help' for more information.\n`,
      exitCode: 2,
    }
  }
  return { ok: true, options: optionsOf(read, file, second) }
}

function wrongNumber(read: GnuOptions, letter: string, what: string): string | null {
  const text = read.value(letter)
  return text === undefined || /^\d+$/.test(text) ? null : `${what} ${text} is not a number`
}

function optionsOf(read: GnuOptions, file: string | null, second: string | null): PatchOptions {
  const strip = read.value('p')
  return {
    ...{ isReversed: read.has('R'), isDry: read.has('dry'), isSilent: read.has('s'), isForward: read.has('N') },
    ...{ isForced: read.has('f'), isBatch: read.has('t'), isBinary: read.has('binary'), removesEmpty: read.has('E') },
    form: read.has('c') ? 'context' : read.has('n') ? 'normal' : read.has('u') ? 'unified' : null,
    backup: read.has('b') ? 'always' : read.has('no-backup') ? 'never' : 'mismatch',
    suffix: read.value('z') ?? '.orig',
    strip: strip === undefined ? null : Number(strip),
    fuzz: Number(read.value('F') ?? 2),
    input: read.value('i') ?? second,
    folder: read.value('d') ?? '.',
    file,
    output: read.value('o') ?? null,
    rejects: read.value('r') ?? null,
  }
}
