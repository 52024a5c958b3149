// The record of a conversation: what was decided at its creation, and what its owner changed since.

import type { AgentChoice, AgentName } from '../../src/agent/agents.ts'
import type { RuntimeWish } from '../../src/agent/runtime.ts'
import { firstRow } from '../sql.ts'
import type { StoredRecord } from '../stored-record.ts'

export type SelectedRepository = {
  /** As the client named it: `owner/name`, or an address. */
  name: string
  url: string
  /** Null for the remote's own default; a fresh branch is then made from it. */
  branch: string | null
  provider: string | null
  /** Whether a person chose the address. False when a model named it in a tool call, absent in records of earlier versions. */
  isTyped?: boolean
}

/** `isTask`: the message is a task in natural language, which a shell cannot run. */
export type FirstMessage = { content: string; imageUrls: string[] | null; isTask?: boolean }

/** What was decided at the creation, and what the owner changed since. */
export type ConversationRecord = {
  id: string
  owner: string
  /** Distinguishes this conversation from an earlier one with the same id. */
  incarnation: string
  /** Empty until the user or the first message gives one. */
  title: string
  trigger: string | null
  createdAt: string
  /** The message that the title was made from, while a model may still write a better one; absent in earlier records. */
  namedAfter?: string | null
  /** When the title was last changed, if that is later than the newest event. */
  titledAt: string | null
  instructions: string
  /** Pull and merge requests that were made for it; records of earlier versions have none. */
  prNumbers?: number[]
  /** What the workspace begins with; null for an empty one. */
  repository: SelectedRepository | null
  /** Whether the set-up of the workspace is complete. */
  setup: 'pending' | 'done' | 'failed'
  /** The message that waits for the set-up. */
  firstMessage: FirstMessage | null
  /** The agent that it begins with; records of earlier versions have none. */
  agent?: AgentName
  /** Tool servers for it alone, sealed as JSON; null or absent for the owner's. */
  toolServers?: string | null
  /** What was chosen for it alone; records of earlier versions have none. */
  choice?: AgentChoice
  /** Where its commands run; records of earlier versions have none, which means `auto`. */
  runtime?: RuntimeWish
  /** The session of which it is the talk about reports; absent in what stands among the owner's conversations. */
  talk?: { session: string }
  /** Whether the agent's loop accepts events. */
  loop: 'running' | 'stopped'
}

/** Whether a conversation lives in this storage; false for an id that nobody created, and for a deleted one. */
export function holdsConversation(sql: SqlStorage): boolean {
  return firstRow(sql, "SELECT 1 FROM meta WHERE name = 'conversation'") !== null
}

const MAX_PR_NUMBERS = 1_000

/** Notes the number of a pull or merge request; false when it was known. */
export function addPullRequest(record: StoredRecord<ConversationRecord>, number: number): boolean {
  const known = record.value.prNumbers ?? []
  if (known.includes(number)) return false
  record.change({ prNumbers: [...known, number].slice(-MAX_PR_NUMBERS) })
  return true
}
