// What the agent is told along with a message: its surroundings with the first, and notes whose words fall with any. Notes
// are files of the workspace, so this waits until the step that needs them.

import type { NewEvent } from '../../src/agent/events.ts'
import { type Match, type Microagent, matchMicroagents } from '../../src/agent/microagents.ts'
import {
  errorObservation,
  knowledgeRecalled,
  type WorkspaceContext,
  workspaceContext,
} from '../../src/agent/observations.ts'
import { USER_ONLY } from './history.ts'
import type { MicroagentSet } from './microagent-files.ts'
import type { Desk, PendingRecall } from './turn.ts'

type Parts = {
  desk: Desk
  context(workingDir: string): WorkspaceContext
  /** As they stand in the workspace now. */
  microagents(): Promise<MicroagentSet>
}

/** Names of notes that the agent has been given: it is not told them twice. */
const GIVEN = 'knowledge_given'

export class Recall {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Tells what was promised since the last step. */
  async catchUp(): Promise<void> {
    const { desk, microagents } = this.#parts
    const { recalls } = desk.turn.value
    if (recalls.length === 0) return
    const { microagents: known, remarks } = await microagents()
    const found: NewEvent[] = []
    for (const recall of recalls) {
      found.push(this.#recalled(recall, known))
      if (recall.isFirst && remarks.length > 0) found.push(leftOut(remarks))
    }
    // A message may have come in the meantime: what it asks for stays.
    desk.turn.change({ recalls: desk.turn.value.recalls.slice(recalls.length) })
    desk.emit(found)
  }

  #recalled({ cause, query, isFirst }: PendingRecall, known: readonly Microagent[]): NewEvent {
    const { desk, context } = this.#parts
    const knowledge = this.#unheard(matchMicroagents(known, query))
    if (!isFirst) return knowledge.length === 0 ? nothingFound(cause) : knowledgeRecalled(cause, knowledge)
    const instructions = known.flatMap(({ kind, content }) => (kind === 'repo' ? [content] : [])).join('\n\n')
    return workspaceContext(cause, context(desk.turn.value.shell.cwd), { instructions, knowledge })
  }

  #unheard(matches: readonly Match[]): Match[] {
    const { calls } = this.#parts.desk
    const given = new Set((calls.recall(GIVEN) ?? []) as string[])
    const unheard = matches.filter(({ name }) => !given.has(name))
    if (unheard.length > 0) calls.remember(GIVEN, [...given, ...unheard.map(({ name }) => name)])
    return unheard
  }
}

function leftOut(remarks: MicroagentSet['remarks']): NewEvent {
  const lines = remarks.map(({ path, reason }) => `${path}: ${reason}`)
  const text = `Some notes of the project were left out.\n${lines.join('\n')}`
  return errorObservation('environment', text, { errorId: USER_ONLY })
}

const nothingFound = (cause: number): NewEvent => ({
  source: 'environment',
  message: '',
  cause,
  observation: 'null',
  content: '',
  extras: {},
})
