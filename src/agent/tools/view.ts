// The contents of a file or a folder, as text for a model.

import { textIfAny } from '../../workspace/diff.ts'
import { type DirectoryEntry, type FileStat, type FileSystem, isFileError } from '../../workspace/file-system.ts'
import { isInWorkspace, resolvePath } from '../../workspace/paths.ts'
import { bytesToText } from '../../workspace/text-encodings.ts'
import { cutMiddle } from '../observations.ts'
import { asError, type Outcome, readOutcome } from './tool.ts'

type ViewRequest = {
  path: string
  /** First and last line, from 1; -1 for the last line of the file. */
  range: readonly number[] | null
  seesImages: boolean
}

export const MAX_TEXT_BYTES = 8 * 1024 * 1024
/** The largest picture, in bytes before base64. */
const MAX_IMAGE_BYTES = 3 * 1024 * 1024
const MAX_ENTRIES = 1000
const MAX_DEPTH = 2

export async function view(fs: FileSystem, request: ViewRequest): Promise<Outcome> {
  const { path } = request
  try {
    return readOutcome(path, await viewed(fs, request))
  } catch (error) {
    if (!isFileError(error)) throw error
    return readOutcome(path, asError(error.message))
  }
}

async function viewed(fs: FileSystem, { path: asked, range, seesImages }: ViewRequest): Promise<string> {
  const place = placeOf(fs, asked)
  if (!place.ok) return asError(place.problem)
  const { path, stat } = place
  if (stat === null) return asError(`There is nothing at ${path}.`)
  if (stat.kind === 'directory') {
    return range === null ? folderText(fs, path) : asError('view_range is for files; this is a folder.')
  }
  const mediaType = imageType(path)
  if (mediaType !== null) return imageText(fs, { path, mediaType, seesImages, sizeBytes: stat.sizeBytes })
  if (stat.sizeBytes > MAX_TEXT_BYTES) return asError(tooLarge(path, stat.sizeBytes))
  const text = textIfAny(await fs.read(path))
  return text === null ? asError(`${path} is not a text file (UTF-8 without NUL).`) : fileText(path, text, range)
}

export function tooLarge(path: string, sizeBytes: number): string {
  return `${path} has ${sizeBytes} bytes, more than can be shown or edited at once. Use head, tail, sed -n or grep in the shell.`
}

function fileText(path: string, text: string, range: readonly number[] | null): string {
  const lines = plainLines(text)
  if (lines.length === 0 && range === null) return `${path} is empty.`
  const [first = 1, last = -1] = range ?? []
  const problem = range === null ? null : rangeProblem(range, lines.length)
  if (problem !== null) return asError(problem)
  const end = last === -1 ? lines.length : Math.min(last, lines.length)
  const head = `${path}, lines ${first} to ${end} of ${lines.length}:`
  return `${head}\n${numbered(lines.slice(first - 1, end), first)}`
}

function rangeProblem(range: readonly number[], count: number): string | null {
  const [first = 0, last = 0] = range
  if (range.length !== 2) return 'view_range has to be two numbers: the first and the last line.'
  if (first < 1 || first > Math.max(count, 1)) return `view_range begins at line ${first}; the file has ${count} lines.`
  if (last !== -1 && last < first) return `view_range ends at line ${last}, before it begins.`
  return null
}

type Image = { path: string; mediaType: string; seesImages: boolean; sizeBytes: number }

async function imageText(fs: FileSystem, { path, mediaType, seesImages, sizeBytes }: Image): Promise<string> {
  if (!seesImages) return asError(`${path} is a picture (${sizeBytes} bytes), and the model in use sees none.`)
  if (sizeBytes > MAX_IMAGE_BYTES)
    return asError(`${path} is a picture of ${sizeBytes} bytes; at most ${MAX_IMAGE_BYTES} can be shown.`)
  const bytes = await fs.read(path)
  if (!hasSignature(bytes, mediaType)) return asError(`${path} has the name of a picture and is none.`)
  return `data:${mediaType};base64,${bytesToText(bytes, 'base64')}`
}

const IMAGE_TYPES: Readonly<Record<string, { mediaType: string; begins: readonly number[] }>> = {
  png: { mediaType: 'image/png', begins: [0x89, 0x50, 0x4e, 0x47] },
  jpg: { mediaType: 'image/jpeg', begins: [0xff, 0xd8, 0xff] },
  jpeg: { mediaType: 'image/jpeg', begins: [0xff, 0xd8, 0xff] },
  gif: { mediaType: 'image/gif', begins: [0x47, 0x49, 0x46, 0x38] },
  webp: { mediaType: 'image/webp', begins: [0x52, 0x49, 0x46, 0x46] },
}

function imageType(path: string): string | null {
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  return Object.hasOwn(IMAGE_TYPES, extension) ? (IMAGE_TYPES[extension]?.mediaType ?? null) : null
}

function hasSignature(bytes: Uint8Array, mediaType: string): boolean {
  const known = Object.values(IMAGE_TYPES).find((type) => type.mediaType === mediaType)
  return known?.begins.every((byte, i) => bytes[i] === byte) ?? false
}

function folderText(fs: FileSystem, path: string): string {
  const lines: string[] = []
  const walk = (folder: string, depth: number): void => {
    for (const entry of fs.list(folder)) {
      if (entry.name.startsWith('.') || lines.length > MAX_ENTRIES) continue
      const below = `${folder === '/' ? '' : folder}/${entry.name}`
      lines.push(below + mark(entry))
      if (entry.kind === 'directory' && depth < MAX_DEPTH && entry.name !== 'node_modules') walk(below, depth + 1)
    }
  }
  walk(path, 1)
  const cut = lines.length > MAX_ENTRIES ? `\n[more than ${MAX_ENTRIES} entries; look into one folder at a time]` : ''
  const head = `Files and folders in ${path}, two levels deep, hidden ones left out:`
  return `${head}\n${lines.slice(0, MAX_ENTRIES).join('\n') || '[nothing]'}${cut}`
}

function mark({ kind }: DirectoryEntry): string {
  return kind === 'directory' ? '/' : kind === 'symlink' ? '@' : ''
}

// Text as the file tools show it: every line with its number.

/** A line that is longer than this was not written by hand. */
const MAX_LINE_CHARS = 2000

/** The lines of a text without their ends. A final line end does not begin another line. */
export function plainLines(text: string): string[] {
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
}

/** `first` is the number of the first line. */
export function numbered(lines: readonly string[], first = 1): string {
  const text = lines.map((line, i) => `${String(first + i).padStart(6)}\t${shortened(line)}`).join('\n')
  return cutMiddle(text)
}

function shortened(line: string): string {
  if (line.length <= MAX_LINE_CHARS) return line
  return `${line.slice(0, MAX_LINE_CHARS).toWellFormed()} [... ${line.length - MAX_LINE_CHARS} more characters in this line]`
}

// The places where the file tools may read and write: the workspace and the temporary folder, after following links.

export type ResolvedPath = { ok: true; path: string; stat: FileStat | null } | { ok: false; problem: string }

/** `stat` is null when nothing exists there yet. */
export function placeOf(fs: FileSystem, asked: string): ResolvedPath {
  if (!asked.startsWith('/')) {
    return refuse(`The path has to be absolute: '${shown(asked)}'. Perhaps you mean '/workspace/${shown(asked)}'.`)
  }
  const path = resolvePath('/', asked)
  try {
    if (!isAllowed(realPathOf(fs, path))) return refuse(`'${shown(asked)}' is not in the workspace (/workspace).`)
    return { ok: true, path, stat: statOf(fs, path) }
  } catch (error) {
    if (!isFileError(error)) throw error
    return refuse(`'${shown(asked)}' cannot be reached: ${error.message}`)
  }
}

/** The real path; for a missing file, the place where it would be created. */
function realPathOf(fs: FileSystem, path: string): string {
  const names = path.split('/').slice(1)
  for (let depth = names.length; depth > 0; depth--) {
    const prefix = `/${names.slice(0, depth).join('/')}`
    if (!isThere(fs, prefix)) continue
    const rest = names.slice(depth)
    return [fs.realPath(prefix), ...rest].join('/')
  }
  return path
}

/** A link to a missing path counts as existing: its target is unknown, so nothing is created through it. */
function isThere(fs: FileSystem, path: string): boolean {
  try {
    fs.lstat(path)
    return true
  } catch (error) {
    if (isFileError(error, 'ENOENT') || isFileError(error, 'ENOTDIR')) return false
    throw error
  }
}

function statOf(fs: FileSystem, path: string): FileStat | null {
  try {
    return fs.stat(path)
  } catch (error) {
    if (isFileError(error, 'ENOENT')) return null
    throw error
  }
}

function isAllowed(realPath: string): boolean {
  return isInWorkspace(realPath) || realPath === '/tmp' || realPath.startsWith('/tmp/')
}

function refuse(problem: string): ResolvedPath {
  return { ok: false, problem }
}

const MAX_SHOWN = 200

function shown(path: string): string {
  return path.length > MAX_SHOWN ? `${path.slice(0, MAX_SHOWN)}…` : path
}
