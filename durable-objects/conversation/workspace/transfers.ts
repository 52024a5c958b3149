// Uploads into a workspace and downloads from it, as streams.

import { type Config, config } from '../../../src/config.ts'
import { errorFields, log } from '../../../src/lib/log.ts'
import { COST_MS, charged } from '../../../src/limits/share.ts'
import { zipFolder } from '../../../src/workspace/archive.ts'
import { type FileSystem, isFileError } from '../../../src/workspace/file-system.ts'
import { WORKSPACE_ROOT } from '../../../src/workspace/paths.ts'
import { type FormProblem, readForm, type UploadForm } from '../../../src/workspace/upload-form.ts'
import { Upload, type UploadLimits, type UploadReport } from '../../../src/workspace/uploads.ts'
import type { WorkspaceStore } from './store.ts'

const MAX_UPLOADED_FILES = 1_000
const MAX_UNPACKED_ENTRIES = 10_000
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024

/** The owner of the workspace, null when there is none, and the workspace itself. */
type Receiving = { owner: string | null; files: () => WorkspaceStore | null }

/** The answer to the Worker. */
export type UploadAnswer = { report: UploadReport } | FormProblem

/** The workspace as a ZIP; 500 when even its beginning cannot be read. */
export async function sendZip(files: FileSystem, signal: AbortSignal): Promise<Response> {
  try {
    return new Response(await zipFolder(files, WORKSPACE_ROOT, signal))
  } catch (error) {
    if (!isFileError(error)) throw error
    log.warn('workspace.zip_failed', errorFields(error))
    return new Response(null, { status: 500 })
  }
}

/**
 * Puts the files of a form into the workspace that `files` returns, if it is still the same when all have arrived: the
 * conversation may be deleted meanwhile. 404 when there is none or it is gone; an invalid form is reported first.
 */
export async function receiveForm(request: Request, env: Env, { owner, files }: Receiving): Promise<Response> {
  const store = files()
  const settings = config(env)
  const unpacks = new URL(request.url).searchParams.get('unpack') === 'true'
  const upload = store && new Upload(store, { limits: limitsOf(settings), unpacks })
  try {
    const problem = await readForm(formOf(request, owner, settings), async (file) => upload?.receive(file))
    if (problem !== null) return Response.json(problem satisfies UploadAnswer)
    if (upload === null || files() !== store) return new Response(null, { status: 404 })
    return Response.json({ report: await upload.finish() } satisfies UploadAnswer)
  } catch (error) {
    if (files() === store) throw error
    log.info('workspace.gone_during_upload', errorFields(error))
    return new Response(null, { status: 404 })
  } finally {
    if (files() === store) upload?.release()
  }
}

function formOf({ headers, body }: Request, owner: string | null, { maxUploadBytes }: Config): UploadForm {
  return {
    contentType: headers.get('content-type') ?? '',
    body: body ?? new Blob().stream(),
    maxBytes: maxUploadBytes,
    giveWay: () => (owner === null ? null : charged(owner, COST_MS.upload)),
  }
}

function limitsOf({ maxFileBytes, maxUploadBytes }: Config): UploadLimits {
  return {
    maxFileBytes,
    maxTotalBytes: maxUploadBytes,
    maxFiles: MAX_UPLOADED_FILES,
    maxEntries: MAX_UNPACKED_ENTRIES,
    maxUnpackedBytes: MAX_UNPACKED_BYTES,
  }
}
