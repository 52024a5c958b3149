import type { FileSystem } from '../../../src/workspace/file-system.ts'
import { Upload, type UploadLimits, type UploadReport } from '../../../src/workspace/uploads.ts'
import { inPieces } from './open-store.ts'

const LIMITS: UploadLimits = {
  maxFileBytes: 1_000_000,
  maxTotalBytes: 10_000_000,
  maxFiles: 1000,
  maxEntries: 1000,
  maxUnpackedBytes: 10_000_000,
}

/** The files of one request. */
export async function uploadAll(
  fs: FileSystem,
  files: readonly { name: string; bytes: Uint8Array }[],
  { unpacks = false, ...limits }: Partial<UploadLimits> & { unpacks?: boolean } = {},
): Promise<UploadReport> {
  const upload = new Upload(fs, { limits: { ...LIMITS, ...limits }, unpacks })
  try {
    for (const { name, bytes } of files) await upload.receive({ name, parts: inPieces(bytes, 10_000) })
    return await upload.finish()
  } finally {
    upload.release()
  }
}
