// The command line of `tar`.

import { type GnuOptions, type GnuSpec, readGnuOptions } from '../gnu-options.ts'

export type Mode = 'c' | 'x' | 't' | 'r' | 'u' | 'd' | 'delete'

export interface Operand {
  name: string
  /** The folder of the `-C` before it, relative to the shell's folder. */
  folder: string
}

export interface TarOptions {
  mode: Mode
  file: string
  read: GnuOptions
  operands: Operand[]
  /** After the last `-C`. */
  folder: string
  /** The number of `-v` options. */
  verbose: number
  strip: number
  has(name: string): boolean
  values(name: string): string[]
}

const MODES = new Set(['c', 'x', 't', 'r', 'u', 'd', 'delete'])

/** Known but refused: letters and long names, with their meaning. */
const REFUSED: Readonly<Record<string, string>> = {
  ...{ J: '--xz', j: '--bzip2', Z: '--compress', zstd: '--zstd', lzma: '--lzma', lzip: '--lzip', lzop: '--lzop' },
  ...{ I: '--use-compress-program', A: '--concatenate', g: '--listed-incremental', G: '--incremental' },
  ...{ M: '--multi-volume', W: '--verify', w: '--interactive', N: '--newer', K: '--starting-file', F: '-F' },
  ...{ occurrence: '--occurrence', totals: '--totals', checkpoint: '--checkpoint', 'index-file': '--index-file' },
  ...{ 'exclude-vcs-ignores': '--exclude-vcs-ignores', 'exclude-ignore': '--exclude-ignore', backup: '--backup' },
  ...{ 'exclude-tag': '--exclude-tag', 'exclude-caches': '--exclude-caches', U: '--unlink-first', V: '--label' },
  ...{ 'to-command': '--to-command', R: '--block-number', l: '--check-links' },
}

const SPEC: GnuSpec = {
  name: 'tar',
  letters: 'cxtrudf:zvpkaOC:T:X:hPmSJjZI:Ag:GMWwN:K:F:UV:Rb:slnBio',
  long: {
    ...{ create: 'c', extract: 'x', get: 'x', list: 't', append: 'r', update: 'u', diff: 'd', compare: 'd' },
    ...{ delete: 'delete', 'file=': 'f', gzip: 'z', gunzip: 'z', ungzip: 'z', verbose: 'v' },
    ...{ 'preserve-permissions': 'p', 'same-permissions': 'p', 'no-same-permissions': 'no-p', 'keep-old-files': 'k' },
    ...{ 'skip-old-files': 'skip-old', 'keep-newer-files': 'keep-newer', overwrite: 'overwrite' },
    ...{ 'auto-compress': 'a', 'no-auto-compress': 'no-a', 'to-stdout': 'O', 'directory=': 'C' },
    ...{ 'files-from=': 'T', 'exclude-from=': 'X', 'exclude=': 'exclude', 'exclude-vcs': 'exclude-vcs' },
    ...{ null: 'null', 'no-null': 'no-null', 'verbatim-files-from': 'verbatim', 'no-recursion': 'flat' },
    ...{ recursion: 'deep', wildcards: 'wildcards', 'no-wildcards': 'no-wildcards', anchored: 'anchored' },
    ...{ 'no-anchored': 'no-anchored', 'strip-components=': 'strip', 'transform=': 'transform', 'xform=': 'transform' },
    ...{ 'show-transformed-names': 'show', 'show-stored-names': 'show', 'owner=': 'owner', 'group=': 'group' },
    ...{ 'mode=': 'mode', 'mtime=': 'mtime', 'sort=': 'sort', 'format=': 'format', posix: 'posix' },
    ...{ 'old-archive': 'old', portability: 'old', 'numeric-owner': 'numeric', dereference: 'h' },
    ...{ 'hard-dereference': 'same', 'remove-files': 'remove', 'one-top-level=?': 'top', touch: 'm' },
    ...{ 'absolute-names': 'P', 'full-time': 'full-time', utc: 'utc', 'no-same-owner': 'same', 'same-owner': 'same' },
    ...{ 'warning=': 'warning', 'ignore-failed-read': 'ignore-failed', sparse: 'same', 'preserve-order': 's' },
    ...{ 'same-order': 's', 'blocking-factor=': 'b', 'record-size=': 'b', seek: 'n', 'no-seek': 'n' },
    ...{ 'read-full-records': 'B', 'ignore-zeros': 'i', 'no-overwrite-dir': 'same', 'delay-directory-restore': 'same' },
    ...{ 'force-local': 'same', 'quoting-style=': 'quoting', restrict: 'same', acls: 'same', xattrs: 'same' },
    ...{ 'no-acls': 'same', 'no-xattrs': 'same', selinux: 'same', 'no-selinux': 'same', 'occurrence=?': 'occurrence' },
    ...{ xz: 'J', bzip2: 'j', compress: 'Z', uncompress: 'Z', zstd: 'zstd', lzma: 'lzma', lzip: 'lzip', lzop: 'lzop' },
    ...{ 'use-compress-program=': 'I', concatenate: 'A', catenate: 'A', 'listed-incremental=': 'g', incremental: 'G' },
    ...{ 'multi-volume': 'M', verify: 'W', interactive: 'w', confirmation: 'w', 'newer=': 'N', 'after-date=': 'N' },
    ...{ 'newer-mtime=': 'N', 'starting-file=': 'K', totals: 'totals', 'checkpoint=?': 'checkpoint' },
    ...{ 'index-file=': 'index-file', 'exclude-vcs-ignores': 'exclude-vcs-ignores', 'backup=?': 'backup' },
    ...{ 'exclude-ignore=': 'exclude-ignore', 'exclude-tag=': 'exclude-tag', 'exclude-caches': 'exclude-caches' },
    ...{ 'unlink-first': 'U', 'recursive-unlink': 'U', 'label=': 'V', 'to-command=': 'to-command' },
    ...{ 'block-number': 'R', 'check-links': 'l' },
  },
  exitCode: 64,
}

const EXIT_TROUBLE = 2
const HINT = "Try 'tar --help' or 'tar --usage' for more information.\n"

export type ReadTarOptions = { ok: true; options: TarOptions } | { ok: false; stderr: string; exitCode: number }

export function tarOptions(words: readonly string[]): ReadTarOptions {
  const args = inNewStyle(words)
  if (typeof args === 'string') return misuse(args)
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) {
    return { ...read, stderr: read.stderr.replace(/Try .*\n$/, HINT) }
  }
  const refused = read.given.find(({ name }) => Object.hasOwn(REFUSED, name))?.name
  if (refused !== undefined) {
    return { ok: false, stderr: `tar: ${REFUSED[refused]} is not available here\n`, exitCode: EXIT_TROUBLE }
  }
  const modes = [...new Set(read.given.filter(({ name }) => MODES.has(name)).map(({ name }) => name))]
  if (modes.length > 1) {
    return misuse("You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option")
  }
  const [mode] = modes
  if (mode === undefined) {
    return misuse("You must specify one of the '-Acdtrux', '--delete' or '--test-label' options")
  }
  const clash = conflict(mode as Mode, read)
  if (clash !== null) return misuse(clash)
  const strip = read.value('strip') ?? '0'
  if (!/^\d+$/.test(strip)) return misuse(`${strip}: Invalid number of elements`)
  return { ok: true, options: optionsOf(mode as Mode, read, Number(strip)) }
}

/** Combinations that GNU tar refuses; null for none. */
function conflict(mode: Mode, read: GnuOptions): string | null {
  if (read.given.filter(({ name }) => name === 'f').length > 1) return "Multiple archive files require '-M' option"
  if (!read.has('s') || ['x', 't', 'd'].includes(mode)) return null
  return `'--same-order' cannot be used with '${mode.length > 1 ? '--' : '-'}${mode}'`
}

function optionsOf(mode: Mode, read: GnuOptions, strip: number): TarOptions {
  const operands: Operand[] = []
  let folder = '.'
  for (const { name, value } of read.sequence) {
    if (name === 'C') folder = value.startsWith('/') ? value : `${folder}/${value}`
    else if (name === '') operands.push({ name: value, folder })
  }
  return {
    ...{ mode, read, operands, folder, strip },
    file: read.value('f') ?? '-',
    // A second `-t` increases the verbosity, like `-v`.
    verbose:
      (read.has('utc') ? 2 : 0) +
      read.given.filter(
        ({ name }, i) => name === 'v' || (name === 't' && i !== read.given.findIndex((one) => one.name === 't')),
      ).length,
    has: (name) => read.has(name),
    values: (name) => read.given.filter((one) => one.name === name).map(({ value }) => value),
  }
}

function misuse(problem: string): ReadTarOptions {
  return { ok: false, stderr: `tar: ${problem}\n${HINT}`, exitCode: EXIT_TROUBLE }
}

/** The old form of options, `tar xzf name`: values follow in the order of the letters that need them. */
function inNewStyle([first = '', ...others]: readonly string[]): string[] | string {
  if (first === '' || first.startsWith('-')) return first === '' ? others : [first, ...others]
  const rest = [...others]
  const words: string[] = []
  for (const letter of first) {
    const at = SPEC.letters.indexOf(letter)
    words.push(`-${letter}`)
    if (at < 0 || SPEC.letters[at + 1] !== ':') continue
    const value = rest.shift()
    if (value === undefined) return `Old option '${letter}' requires an argument.`
    words.push(value)
  }
  return [...words, ...rest]
}
