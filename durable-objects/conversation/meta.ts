// The two values that a conversation keeps beside its log: what it is, and how far its agent has got.

import type { AgentState } from '../../src/agent/states.ts'
import type { ShellState } from '../../src/workspace/shell-state.ts'
import { firstRow } from '../sql.ts'

export type SelectedRepository = {
  /** As the client named it: `owner/name`, or an address. */
  name: string
  url: string
  /** Null for the remote's own default; a fresh branch is then made from it. */
  branch: string | null
  provider: string | null
}

/** What was decided at the creation, and what the owner changed since. */
export type ConversationRecord = {
  id: string
  owner: string
  /** Tells this conversation from an earlier one of the same id. */
  incarnation: string
  /** Empty until the user or the first message gives one. */
  title: string
  trigger: string | null
  createdAt: string
  /** When the title was changed last, if after the newest event. */
  titledAt: string | null
  instructions: string
  /** What the workspace begins with; null for an empty one. */
  repository: SelectedRepository | null
  /** Whether the workspace is as the conversation wants it. */
  setup: 'pending' | 'done' | 'failed'
  /** The message that waits for the set-up. */
  firstMessage: { content: string; imageUrls: string[] | null } | null
  /** Whether the agent's loop accepts events. */
  loop: 'running' | 'stopped'
}

/** A command that was started and has no recorded outcome yet. */
export type OpenStep = { actionId: number; from: 'agent' | 'user'; command: string; hidden: boolean }

export type Turn = {
  state: AgentState
  /** The id of the newest user event that was taken up. */
  cursor: number
  step: OpenStep | null
  /** The user pressed stop while the step ran. */
  stopping: boolean
  /** Whether the set-up is over; until then inputs only wait. */
  opened: boolean
  /** Whether the agent was told about its surroundings. */
  introduced: boolean
  /** What lasts from one command to the next. */
  shell: ShellState
}

/** Whether a conversation lives in this storage; false for an id that nobody created, and for a deleted one. */
export function holdsConversation(sql: SqlStorage): boolean {
  return firstRow(sql, "SELECT 1 FROM meta WHERE name = 'conversation'") !== null
}

/** One JSON value under a name, read once and written through. */
export class Meta<T extends object> {
  readonly #sql: SqlStorage
  readonly #name: string
  #value: T

  constructor(sql: SqlStorage, name: string, initial: T | null) {
    this.#sql = sql
    this.#name = name
    const row = firstRow<{ value: string }>(sql, 'SELECT value FROM meta WHERE name = ?', name)
    if (row === null && initial === null) throw new Error(`no ${name} is stored`)
    // Our own row, written by the same type.
    this.#value = row === null ? (initial as T) : (JSON.parse(row.value) as T)
    if (row === null) this.#write()
  }

  get value(): Readonly<T> {
    return this.#value
  }

  change(changes: Partial<T>): void {
    this.#value = { ...this.#value, ...changes }
    this.#write()
  }

  #write(): void {
    this.#sql.exec('INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)', this.#name, JSON.stringify(this.#value))
  }
}
