// What the parts of a turn share: the stores of the conversation, and access to the environment.

import type { NewEvent } from '../../../src/agent/events.ts'
import type { LoggedCalls } from '../../../src/agent/turn.ts'
import type { WatchedTurn } from '../../../src/agent/turn-trace.ts'
import type { CallNote } from '../../../src/llm/metrics.ts'
import type { StoredRecord } from '../../stored-record.ts'
import type { EventLog } from '../events/event-log.ts'
import type { ConversationRecord } from '../schema.ts'
import type { Sessions } from '../sockets/sessions.ts'
import type { Talk } from '../talk/talk.ts'
import type { WorkspaceStore } from '../workspace/store.ts'
import type { CallBudget } from './call-budget.ts'
import type { ConversationRunner } from './runner/conversation-runner.ts'
import type { SecretMasker } from './secret-masker.ts'

export type TurnHost = {
  readonly env: Env
  readonly record: StoredRecord<ConversationRecord>
  readonly log: EventLog
  readonly turn: WatchedTurn
  readonly calls: LoggedCalls
  readonly files: WorkspaceStore
  readonly secrets: SecretMasker
  readonly sessions: Sessions
  readonly runner: ConversationRunner
  readonly budget: CallBudget
  /** Null unless it is a talk about reports. */
  readonly talk: Talk | null
  /** Stores events and sends them to the clients; returns the id of the first. */
  emit(events: NewEvent[]): number
  /** Requests a call of the loop's `work` at that time, epoch ms; also after a crash. */
  wake(at: number): void
  /** Notes what a request to a model used. */
  noteCall(note: CallNote): void
  /** Records a pull or merge request of this conversation. */
  notePullRequest(number: number): void
}
