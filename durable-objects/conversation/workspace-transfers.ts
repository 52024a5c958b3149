// What goes into a workspace and out of it as a stream.

import { errorFields, log } from '../../src/lib/log.ts'
import { zipFolder } from '../../src/workspace/archive.ts'
import { isFileError } from '../../src/workspace/file-system.ts'
import { WORKSPACE_ROOT } from '../../src/workspace/paths.ts'
import type { WorkspaceStore } from './workspace-store.ts'

/** The workspace as a ZIP; 500 when not even its beginning can be read. */
export async function sendZip(files: WorkspaceStore, signal: AbortSignal): Promise<Response> {
  try {
    return new Response(await zipFolder(files, WORKSPACE_ROOT, signal))
  } catch (error) {
    if (!isFileError(error)) throw error
    log.warn('workspace.zip_failed', errorFields(error))
    return new Response(null, { status: 500 })
  }
}
