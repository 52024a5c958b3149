import { config } from '../../../src/config.ts'
import type { TreeEvent } from './changed-files.ts'
import { WorkspaceStore } from './store.ts'
import { WorkspaceVersions } from './versions.ts'

const MAX_FILES = 100_000

type OpenOptions = {
  /** The key prefix in the bucket. */
  prefix: string
  observe: (path: string, event: TreeEvent) => void
}

/** The files of a conversation within the configured limits, with their earlier versions. */
export function openWorkspace(storage: DurableObjectStorage, env: Env, place: OpenOptions): WorkspaceStore {
  const { maxFileBytes, maxWorkspaceBytes } = config(env)
  return new WorkspaceStore({
    ...place,
    storage,
    bucket: env.FILES,
    limits: { maxFileBytes, maxTotalBytes: maxWorkspaceBytes, maxFiles: MAX_FILES },
    versions: new WorkspaceVersions(storage.sql),
  })
}
