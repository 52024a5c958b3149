// The two values that a conversation keeps beside its log: what it is, and how far its agent has got.

import type { AgentName } from '../../src/agent/agents.ts'
import { firstRow } from '../sql.ts'
import { NamedTexts } from './named-texts.ts'

export type SelectedRepository = {
  /** As the client named it: `owner/name`, or an address. */
  name: string
  url: string
  /** Null for the remote's own default; a fresh branch is then made from it. */
  branch: string | null
  provider: string | null
  /** Whether a person chose where it is; a model did when it was asked for by a tool, and nobody knows of earlier records. */
  isTyped?: boolean
}

/** `isTask`: it is a task in words, which no shell can run. */
export type FirstMessage = { content: string; imageUrls: string[] | null; isTask?: boolean }

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
  /** The message that gave the title, while a model may still find a better one; absent in earlier records. */
  namedAfter?: string | null
  /** When the title was changed last, if after the newest event. */
  titledAt: string | null
  instructions: string
  /** Pull and merge requests that were made for it; records of earlier versions have none. */
  prNumbers?: number[]
  /** What the workspace begins with; null for an empty one. */
  repository: SelectedRepository | null
  /** Whether the workspace is as the conversation wants it. */
  setup: 'pending' | 'done' | 'failed'
  /** The message that waits for the set-up. */
  firstMessage: FirstMessage | null
  /** The agent that it begins with; records of earlier versions have none. */
  agent?: AgentName
  /** Tool servers for it alone, sealed as JSON; null or absent for the owner's. */
  toolServers?: string | null
  /** Whether the agent's loop accepts events. */
  loop: 'running' | 'stopped'
}

/** Whether a conversation lives in this storage; false for an id that nobody created, and for a deleted one. */
export function holdsConversation(sql: SqlStorage): boolean {
  return firstRow(sql, "SELECT 1 FROM meta WHERE name = 'conversation'") !== null
}

/** One JSON value under a name, read once and written through. */
export class Meta<T extends object> {
  readonly #texts: NamedTexts
  readonly #name: string
  #value: T

  constructor(sql: SqlStorage, name: string, initial: T | null) {
    this.#texts = new NamedTexts(sql, 'meta')
    this.#name = name
    const stored = this.#texts.get(name)
    if (stored === null && initial === null) throw new Error(`no ${name} is stored`)
    // Our own row, written by the same type.
    // Rows of earlier versions lack what came later.
    this.#value = stored === null ? (initial as T) : { ...initial, ...(JSON.parse(stored) as T) }
    if (stored === null) this.#write()
  }

  get value(): Readonly<T> {
    return this.#value
  }

  change(changes: Partial<T>): void {
    this.#value = { ...this.#value, ...changes }
    this.#write()
  }

  #write(): void {
    this.#texts.put(this.#name, JSON.stringify(this.#value))
  }
}
