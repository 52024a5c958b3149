// What the agent is told about its environment, and where notes for it may be stored.

import type { WorkspaceContext } from '../../../src/agent/observations.ts'
import { WORKSPACE_ROOT } from '../../../src/workspace/paths.ts'
import { folderOf } from '../repository/setup.ts'
import type { ConversationRecord } from '../schema.ts'

type WorkspaceSettings = { workingDir: string; secrets: WorkspaceContext['secrets'] }

export function workspaceContextOf(
  record: ConversationRecord,
  { workingDir, secrets }: WorkspaceSettings,
): WorkspaceContext {
  const { instructions, repository, talk } = record
  const date = new Date().toISOString().slice(0, 10)
  // The agent of a talk has neither files nor a shell.
  if (talk !== undefined) return { date, workingDir: '', conversationInstructions: '', repository: null, secrets: {} }
  return {
    date,
    workingDir,
    conversationInstructions: instructions,
    repository: repository && {
      name: repository.name,
      directory: folderOf(repository),
      branch: repository.branch ?? '',
    },
    secrets,
  }
}

export function noteRootsOf({ repository }: ConversationRecord): string[] {
  return repository === null ? [WORKSPACE_ROOT] : [WORKSPACE_ROOT, folderOf(repository)]
}
