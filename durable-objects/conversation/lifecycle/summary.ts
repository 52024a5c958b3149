import type { AgentState } from '../../../src/agent/turn.ts'
import type { ConversationSummary } from '../../../src/db/conversations.ts'
import type { ConversationRecord } from '../schema.ts'

/** The conversation's entry in lists. `lastAt` is when its newest event was stored. */
export function summaryOf(
  record: Readonly<ConversationRecord>,
  { lastAt, connections, agentState }: { lastAt: string | null; connections: number; agentState: AgentState },
): ConversationSummary {
  const { id, owner, title, trigger, createdAt, titledAt, repository, setup, loop } = record
  const isRunning = loop === 'running'
  const isPending = setup === 'pending'
  return {
    id,
    owner,
    title: title === '' ? `Conversation ${id.slice(0, 5)}` : title,
    createdAt,
    lastUpdatedAt: titledAt !== null && (lastAt === null || titledAt > lastAt) ? titledAt : lastAt,
    status: isRunning ? (isPending ? 'STARTING' : 'RUNNING') : 'STOPPED',
    runtimeStatus: isRunning ? (isPending ? 'STATUS$STARTING_RUNTIME' : 'STATUS$READY') : null,
    agentState,
    selectedRepository: repository?.name ?? null,
    selectedBranch: repository?.branch ?? null,
    gitProvider: repository?.provider ?? null,
    trigger,
    numConnections: connections,
    prNumber: record.prNumbers ?? [],
  }
}
