// Unpacks a user's archive, entry by entry. The archive is not trusted: each entry becomes a harmless file, folder or
// link below the workspace, or is refused with a reason.

import { DEFLATED, ENCRYPTED, readZipDirectory, STORED, unpackedEntries, type ZipEntry } from '../kits/zip/index.ts'
import { byteLength, MAX_NAME_BYTES, MAX_PATH_BYTES } from './file-system.ts'
import { WORKSPACE_ROOT } from './paths.ts'

export interface UnpackLimits {
  maxEntries: number
  maxFileBytes: number
  /** Of one archive. */
  maxTotalBytes: number
}

/** `name` is the name in the archive, `path` the path in the workspace. */
export type Unpacked =
  | { name: string; kind: 'refused'; reason: string }
  | { name: string; kind: 'directory'; path: string }
  | { name: string; kind: 'file'; path: string; mode: number | undefined; bytes: Uint8Array }
  | { name: string; kind: 'symlink'; path: string; target: string }

/** Text is seldom compressed to less than a twentieth; a higher ratio is a sign of a ZIP bomb. */
const MAX_RATIO = 200
/** A small file is harmless with any ratio. */
const HARMLESS_BYTES = 1024 * 1024

const S_IFMT = 0o170000
const S_IFREG = 0o100000
const S_IFDIR = 0o040000
const S_IFLNK = 0o120000

/** All entries of a ZIP, in its order; a single refusal without a name if it cannot be read at all. */
export async function* unpackZip(archive: Uint8Array, limits: UnpackLimits): AsyncGenerator<Unpacked> {
  const directory = readZipDirectory(archive, limits.maxEntries)
  if (!directory.ok) {
    yield { name: '', kind: 'refused', reason: directory.reason }
    return
  }
  const judged = judgeAll(directory.entries, limits)
  const withContents = judged.filter(({ entry, verdict }) => 'path' in verdict && kindOf(entry) !== 'directory')
  const contents = await unpackedEntries(withContents.map(({ entry }) => entry))
  for (const { entry, verdict } of judged) {
    const name = entry.name ?? '(a name that is not in UTF-8)'
    if ('reason' in verdict) yield { name, kind: 'refused', reason: verdict.reason }
    else if (kindOf(entry) === 'directory') yield { name, kind: 'directory', path: verdict.path }
    else yield { name, ...unpacked(entry, verdict.path, (await contents.next()).value ?? null) }
  }
}

type Judged = { entry: ZipEntry; verdict: Verdict }

function judgeAll(entries: readonly ZipEntry[], limits: UnpackLimits): Judged[] {
  let room = limits.maxTotalBytes
  return entries.map((entry) => {
    const verdict = judge(entry, room, limits)
    if ('path' in verdict && kindOf(entry) !== 'directory') room -= entry.sizeBytes
    return { entry, verdict }
  })
}

type Verdict = { path: string } | { reason: string }

/** Checked with the archive's metadata, before unpacking. */
function judge(entry: ZipEntry, room: number, limits: UnpackLimits): Verdict {
  const place: Verdict = entry.name === null ? { reason: 'The name is not in UTF-8' } : placeOf(entry.name)
  if ('reason' in place) return place
  const reason =
    refusalOf(entry, limits) ??
    (kindOf(entry) !== 'directory' && entry.sizeBytes > room
      ? `The archive unpacks to too much: at this entry ${room} bytes were left`
      : null)
  return reason === null ? place : { reason }
}

type Result<T extends Unpacked> = T extends Unpacked ? Omit<T, 'name'> : never

function unpacked(entry: ZipEntry, path: string, bytes: Uint8Array | null): Result<Unpacked> {
  if (bytes === null) return { kind: 'refused', reason: 'The entry is damaged' }
  const kind = kindOf(entry)
  // Set-user-id bits and the bits for the kind are removed; archives from systems without permissions have no bits at
  // all.
  const permissions = (entry.unixMode ?? 0) & 0o777
  if (kind !== 'symlink') return { kind: 'file', path, mode: permissions === 0 ? undefined : permissions, bytes }
  const target = new TextDecoder().decode(bytes)
  return isInert(target, path) ? { kind, path, target } : { kind: 'refused', reason: 'The link leads elsewhere' }
}

/** The path of an entry, or why it is invalid. Folders are kept, and invalid names are refused, not changed. */
function placeOf(name: string): Verdict {
  if (name.startsWith('/') || /^[a-z]:/i.test(name)) return { reason: 'The path is absolute' }
  if (name.includes('\\')) return { reason: 'The path has a backslash in it' }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (/[\0-\x1f\x7f]/.test(name)) return { reason: 'The path has control characters in it' }
  const names = name
    .normalize('NFC')
    .split('/')
    .filter((part) => part !== '' && part !== '.')
  if (names.includes('..')) return { reason: 'The path leads out of its folder' }
  // As for other uploads: the entry would decide which repository git uses, and which servers git contacts.
  if (names.some((part) => part.toLowerCase() === '.git')) return { reason: 'The path is in a .git folder' }
  const path = [WORKSPACE_ROOT, ...names].join('/')
  const isTooLong = byteLength(path) > MAX_PATH_BYTES || names.some((part) => byteLength(part) > MAX_NAME_BYTES)
  if (isTooLong) return { reason: 'The path is too long' }
  return names.length === 0 ? { reason: 'The path has no name in it' } : { path }
}

function kindOf({ name, unixMode }: ZipEntry): 'file' | 'directory' | 'symlink' | 'other' {
  const type = (unixMode ?? 0) & S_IFMT
  if (type === S_IFLNK) return 'symlink'
  if (type === S_IFDIR || name?.endsWith('/')) return 'directory'
  return type === 0 || type === S_IFREG ? 'file' : 'other'
}

function refusalOf(entry: ZipEntry, limits: UnpackLimits): string | null {
  const { flags, method, sizeBytes, packed } = entry
  const kind = kindOf(entry)
  if (kind === 'other') return 'It is neither a file nor a folder nor a link'
  if (kind === 'directory') return null
  if ((flags & ENCRYPTED) !== 0) return 'It is encrypted'
  if (method !== STORED && method !== DEFLATED) return `It is compressed in a way that is not known here (${method})`
  const maxBytes = kind === 'symlink' ? MAX_PATH_BYTES : limits.maxFileBytes
  if (sizeBytes > maxBytes) return `It is larger than ${maxBytes} bytes`
  if (sizeBytes > HARMLESS_BYTES && sizeBytes > packed.byteLength * MAX_RATIO) {
    return `It unpacks to more than ${MAX_RATIO} times its size`
  }
  return null
}

/**
 * Whether a link cannot lead out of the workspace, whatever other links exist: it may go up to the workspace root only,
 * and never up after going down, because another link might have changed the folder.
 */
function isInert(target: string, path: string): boolean {
  const names = target.split('/').filter((part) => part !== '' && part !== '.')
  const climbs = names.findIndex((part) => part !== '..')
  const up = climbs === -1 ? names.length : climbs
  const depth = path.split('/').length - WORKSPACE_ROOT.split('/').length - 1
  const isPlain = target !== '' && !target.startsWith('/') && !/[\0\\\ufffd]/.test(target)
  return (
    isPlain &&
    up <= depth &&
    !names.slice(up).includes('..') &&
    names.every((part) => byteLength(part) <= MAX_NAME_BYTES)
  )
}
