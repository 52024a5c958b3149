// The recall observations: the description of the workspace with the first message, and the microagents that a message
// triggers. Microagents are files of the workspace, so they are read in the step that needs them.

import type { NewEvent } from '../events.ts'
import { type Match, type Microagent, matchMicroagents } from '../microagents.ts'
import { errorObservation, knowledgeRecalled, USER_ONLY, workspaceContext } from '../observations.ts'
import type { PendingRecall } from '../turn.ts'
import type { TurnDeps } from '../turn-deps.ts'
import type { MicroagentSet } from './microagent-files.ts'

type KnowledgeDeps = Pick<TurnDeps, 'turn' | 'calls' | 'emit' | 'surroundings' | 'microagents'>

/** The names of microagents that the agent already has: it does not get them twice. */
const GIVEN = 'knowledge_given'

export class Knowledge {
  readonly #deps: KnowledgeDeps

  constructor(deps: KnowledgeDeps) {
    this.#deps = deps
  }

  /** Stores the recall observations that are due since the last step. */
  async catchUp(): Promise<void> {
    const { turn, emit, microagents } = this.#deps
    const { recalls } = turn.value
    if (recalls.length === 0) return
    const { microagents: known, remarks } = await microagents()
    const found: NewEvent[] = []
    for (const recall of recalls) {
      found.push(this.#recalled(recall, known))
      if (recall.isFirst && remarks.length > 0) found.push(leftOut(remarks))
    }
    // A message may have arrived in the meantime: its recall action stays open.
    turn.change({ recalls: turn.value.recalls.slice(recalls.length) })
    emit(found)
  }

  #recalled({ cause, query, isFirst }: PendingRecall, known: readonly Microagent[]): NewEvent {
    const { turn, surroundings } = this.#deps
    const knowledge = this.#unheard(matchMicroagents(known, query))
    if (!isFirst) return knowledge.length === 0 ? nothingFound(cause) : knowledgeRecalled(cause, knowledge)
    const instructions = known.flatMap(({ kind, content }) => (kind === 'repo' ? [content] : [])).join('\n\n')
    return workspaceContext(cause, surroundings(turn.value.shell.cwd), { instructions, knowledge })
  }

  #unheard(matches: readonly Match[]): Match[] {
    const { calls } = this.#deps
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
