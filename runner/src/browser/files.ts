// Moves files between a page and the workspace. Programs may replace the browser's files and those of the workspace by
// links at any time, so both are opened folder by folder, and no link is followed.

import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import { quotedWords } from '../../../src/runners/page.ts'
import { Folder, isCode, openBelow } from '../sync/folder.ts'

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants
const DOWNLOADS = 'downloads'
export const MAX_DOWNLOAD_BYTES = 25 * 1024 * 1024
const MAX_UPLOAD_BYTES = 20 * 1024 * 1024
const MAX_NAME_CHARS = 100
const PIECE_BYTES = 1024 * 1024

export class FileRefused extends Error {}

export type UploadedFile = { readonly name: string; readonly mimeType: string; readonly buffer: Buffer }

/** A file of the workspace by its path. Throws `FileRefused` for anything else. */
export function fileToUpload(root: string, path: string): UploadedFile {
  const shown = quotedWords(path, 200)
  const names = path.replace(/^\/workspace\//, '').split('/')
  const name = names.pop() ?? ''
  if (path.startsWith('/') && !path.startsWith('/workspace/'))
    throw new FileRefused(`${shown} is outside of /workspace: only files of the workspace can be uploaded.`)
  if ([...names, name].some((one) => one === '' || one === '.' || one === '..' || one.includes('\0')))
    throw new FileRefused(`${shown} is no plain path of a file in /workspace.`)
  const fd = opened(root, { names, name, shown })
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw new FileRefused(`${shown} is no file.`)
    if (stats.size > MAX_UPLOAD_BYTES)
      throw new FileRefused(`${shown} has ${stats.size} bytes; at most ${MAX_UPLOAD_BYTES} can be uploaded.`)
    return { name, mimeType: typeOf(name), buffer: readFileSync(fd) }
  } finally {
    closeSync(fd)
  }
}

function opened(root: string, { names, name, shown }: { names: string[]; name: string; shown: string }): number {
  try {
    const folder = openBelow(root, names)
    try {
      return openSync(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    } finally {
      folder.close()
    }
  } catch (error) {
    if (isCode(error, 'ENOENT')) throw new FileRefused(`There is no file ${shown} in the workspace.`)
    if (isCode(error, 'ELOOP', 'ENOTDIR', 'ENXIO')) throw new FileRefused(`${shown} leads over a link or is no file.`)
    throw error
  }
}

const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  pdf: 'application/pdf',
  png: 'image/png',
  txt: 'text/plain',
  webp: 'image/webp',
  xml: 'application/xml',
  zip: 'application/zip',
}
const typeOf = (name: string): string =>
  TYPES[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream'

/** A server's file name as a single name in a folder, whatever it contains. */
export function safeName(suggested: string): string {
  const last = basename(suggested.replaceAll('\\', '/').replaceAll('\0', ''))
  const plain = last
    .normalize('NFC')
    .toWellFormed()
    .replaceAll(/[[\]]/g, (bracket) => (bracket === '[' ? '(' : ')'))
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd<>:"|?*]/gu, '_')
    .replace(/^[.\s]+/, '_')
    .trim()
  const dot = plain.lastIndexOf('.')
  const end = dot > 0 && plain.length - dot <= 12 ? plain.slice(dot) : ''
  const whole = plain.slice(0, plain.length - end.length).slice(0, MAX_NAME_CHARS - end.length) + end
  return whole === '' || whole === '_' ? 'download' : whole
}

/** Copies a finished download into the workspace, without replacing files. Returns its path below the root. */
export function placeDownload(
  from: string,
  file: string,
  { root, suggested }: { root: string; suggested: string },
): { path: string; bytes: number } {
  const [source, workspace] = [Folder.root(from), Folder.root(root)]
  try {
    const fd = openSync(source.at(file), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const { size, nlink } = fstatSync(fd)
      if (!fstatSync(fd).isFile() || nlink !== 1) throw new FileRefused('It is no file.')
      if (size > MAX_DOWNLOAD_BYTES) throw new FileRefused(`It has more than ${MAX_DOWNLOAD_BYTES} bytes.`)
      return { path: `${DOWNLOADS}/${copied(fd, workspace, safeName(suggested))}`, bytes: size }
    } finally {
      closeSync(fd)
      unlinkSync(source.at(file))
    }
  } finally {
    source.close()
    workspace.close()
  }
}

function copied(fd: number, workspace: Folder, name: string): string {
  const there = workspace.stat(DOWNLOADS)
  if (there !== null && !there.isDirectory())
    throw new FileRefused(`/workspace/${DOWNLOADS} is no folder, so the file was not kept.`)
  if (there === null) workspace.mkdir(DOWNLOADS)
  const folder = workspace.open(DOWNLOADS)
  try {
    const { target, free } = newFile(folder, name)
    try {
      const piece = Buffer.alloc(PIECE_BYTES)
      for (let at = 0; at < MAX_DOWNLOAD_BYTES; ) {
        const read = readSync(fd, piece, 0, piece.length, at)
        if (read === 0) break
        for (let done = 0; done < read; ) done += writeSync(target, piece, done, read - done)
        at += read
      }
    } finally {
      closeSync(target)
    }
    return free
  } finally {
    folder.close()
  }
}

/** Never overwrites an existing file. */
function newFile(folder: Folder, name: string): { target: number; free: string } {
  const dot = name.lastIndexOf('.') > 0 ? name.lastIndexOf('.') : name.length
  for (let count = 1; count <= 200; count++) {
    const free = count === 1 ? name : `${name.slice(0, dot)} (${count})${name.slice(dot)}`
    try {
      return { target: openSync(folder.at(free), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644), free }
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error
    }
  }
  throw new FileRefused(`There are too many files of this name in /workspace/${DOWNLOADS}.`)
}
