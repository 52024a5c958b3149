// Files that a user gives to a conversation. Each is stored or refused on its own; bytes are kept exactly.

import { byteLength, type FileSystem, type FileSystemError, isFileError } from './file-system.ts'
import { uploadName, WORKSPACE_ROOT } from './paths.ts'

export interface Upload {
  name: string
  bytes: Uint8Array
}

export interface UploadLimits {
  maxFileBytes: number
  /** Of one request. */
  maxTotalBytes: number
  maxFiles: number
}

export const DEFAULT_UPLOAD_LIMITS: UploadLimits = {
  maxFileBytes: 32 * 1024 * 1024,
  maxTotalBytes: 64 * 1024 * 1024,
  maxFiles: 1000,
}

/** Named as it goes out: this report is the answer of the endpoint. */
export interface UploadReport {
  /** Absolute paths of what was stored. */
  uploaded_files: string[]
  /** By the names that were sent. */
  skipped_files: { name: string; reason: string }[]
}

export async function storeUploads(
  fs: FileSystem,
  uploads: readonly Upload[],
  limits: UploadLimits = DEFAULT_UPLOAD_LIMITS,
): Promise<UploadReport> {
  const report: UploadReport = { uploaded_files: [], skipped_files: [] }
  let totalBytes = 0
  for (const { name, bytes } of uploads) {
    const clean = uploadName(name)
    const path = `${WORKSPACE_ROOT}/${clean}`
    const reason =
      clean === null
        ? 'The file has no usable name'
        : (overLimits(report, { sizeBytes: bytes.byteLength, totalBytes }, limits) ??
          (report.uploaded_files.includes(path) ? `Another file of this upload is stored as ${path}` : null) ??
          (await store(fs, path, bytes)))
    if (reason === null) {
      report.uploaded_files.push(path)
      totalBytes += bytes.byteLength
    } else {
      report.skipped_files.push({ name: shown(name), reason })
    }
  }
  return report
}

function overLimits(
  report: UploadReport,
  { sizeBytes, totalBytes }: { sizeBytes: number; totalBytes: number },
  limits: UploadLimits,
): string | null {
  if (sizeBytes > limits.maxFileBytes) return `The file is larger than ${limits.maxFileBytes} bytes`
  if (totalBytes + sizeBytes > limits.maxTotalBytes) return `The upload is larger than ${limits.maxTotalBytes} bytes`
  if (report.uploaded_files.length >= limits.maxFiles) return `The upload has more than ${limits.maxFiles} files`
  return null
}

/** Null when it is stored, else why not. */
async function store(fs: FileSystem, path: string, bytes: Uint8Array): Promise<string | null> {
  try {
    // Writing would follow a link to wherever it points; an upload takes its place instead.
    if (entryKind(fs, path) === 'symlink') fs.remove(path)
    await fs.write(path, bytes)
    return null
  } catch (error) {
    if (!isFileError(error)) throw error
    return explain(error)
  }
}

function entryKind(fs: FileSystem, path: string): string | null {
  try {
    return fs.lstat(path).kind
  } catch (error) {
    if (isFileError(error, 'ENOENT')) return null
    throw error
  }
}

function explain(error: FileSystemError): string {
  if (error.code === 'EISDIR') return 'A folder of this name is in the workspace'
  if (error.code === 'ENOSPC') return 'There is no room left in the workspace'
  if (error.code === 'EIO') return 'The file could not be stored at the moment; try again'
  return `The file could not be stored (${error.code})`
}

/** A name of any length and content, fit to be sent back. */
function shown(name: string): string {
  const text = name.toWellFormed()
  return byteLength(text) <= 1024 ? text : `${text.slice(0, 256).toWellFormed()}…`
}
