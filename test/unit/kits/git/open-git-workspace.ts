// A durable workspace with a git index beside it, as a conversation has them.

import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { CHANGED_FILES_TABLES, WORKSPACE_TABLES } from '../../../../durable-objects/conversation/schema.ts'
import { ChangedFiles, type GitChanges } from '../../../../durable-objects/conversation/workspace/changed-files.ts'
import { WorkspaceStore } from '../../../../durable-objects/conversation/workspace/store.ts'
import { runGit } from '../../../../src/kits/git/dispatch.ts'
import type { GitRemotes } from '../../../../src/kits/git/index.ts'
import { LOOPBACK_REMOTES } from '../../../helpers/git-host.ts'

export interface GitWorkspace {
  fs: WorkspaceStore
  index: ChangedFiles
  storage: DurableObjectStorage
}

export function openGitWorkspace(name: string, remotes: GitRemotes = LOOPBACK_REMOTES) {
  const id = `${name}-${crypto.randomUUID()}`
  const stub = env.CONVERSATION.get(env.CONVERSATION.idFromName(id))
  const use = <T>(work: (parts: GitWorkspace) => Promise<T>): Promise<T> =>
    runInDurableObject(stub, (_object, { storage }) => work(partsOf(storage, `test/${id}/`)))
  return {
    use,
    /** The object is taken from memory; what it knew there is gone. */
    evict: async () => {
      await evictDurableObject(stub)
      opened.clear()
    },
    changes: () => use(async ({ index }) => changeLines(await index.changes())),
    git: (words: string | readonly string[], cwd = '/workspace') => use(({ fs }) => gitIn(fs, words, { cwd, remotes })),
  }
}

/** One for each object as long as it is in memory. */
const opened = new Map<DurableObjectStorage, GitWorkspace>()

function partsOf(storage: DurableObjectStorage, prefix: string): GitWorkspace {
  const known = opened.get(storage)
  if (known) return known
  const isNew = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'git_touched'").toArray().length === 0
  if (isNew && storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'workspace_nodes'").toArray().length === 0)
    storage.sql.exec(WORKSPACE_TABLES)
  if (isNew) storage.sql.exec(CHANGED_FILES_TABLES)
  const fs: WorkspaceStore = new WorkspaceStore({
    storage,
    bucket: env.FILES,
    prefix,
    observe: (path, what) => index.note(path, what),
  })
  const index = new ChangedFiles({ storage, fs })
  opened.set(storage, { fs, index, storage })
  return { fs, index, storage }
}

export async function gitIn(
  fs: WorkspaceStore,
  words: string | readonly string[],
  { cwd = '/workspace', remotes = LOOPBACK_REMOTES }: { cwd?: string; remotes?: GitRemotes } = {},
) {
  const args = typeof words === 'string' ? words.split(' ') : words
  const { stdout, stderr, exitCode } = await runGit(args, { fs, cwd, env: {}, stdin: '', pace: () => null, remotes })
  return { stdout, stderr, exitCode }
}

/** `M path`, one to a change; null when there is no repository. */
export function changeLines(found: GitChanges): string[] | null {
  if (found.ok) return found.changes.map(({ status, path }) => `${status} ${path}`)
  if (found.reason === 'not-a-repository') return null
  throw new Error(found.message)
}

export const write = (fs: WorkspaceStore, path: string, content: string) =>
  fs.write(path, new TextEncoder().encode(content))
