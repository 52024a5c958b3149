// The recall observations: the description of the workspace with the first message, and the microagents that a message
// triggers. Microagents are files of the workspace, so they are read in the step that needs them.

import type { LanguageModel } from '../../llm/model.ts'
import type { NewEvent, StoredEvent } from '../events.ts'
import { type Match, type Microagent, matchMicroagents } from '../microagents.ts'
import { errorObservation, knowledgeRecalled, USER_ONLY, workspaceContext } from '../observations.ts'
import type { PendingRecall } from '../turn.ts'
import type { TurnDeps } from '../turn-deps.ts'
import type { Entry, History } from './history.ts'
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

// A model that sees no pictures gets a note for each picture, and a shell not even that. The user is told once for each such
// model.

type PictureDeps = Pick<TurnDeps, 'calls' | 'emit'>

/** The models about which the user was told. */
const TOLD = 'unseen_pictures_told'
const SHELL = 'shell'

export function tellUnseen(deps: PictureDeps, history: History, model: LanguageModel): void {
  if (model.seesImages) return
  if (toldOf(deps).includes(model.id) || !history.entries().some(holdsPicture)) return
  const text = `The model ${model.id} sees no pictures, so those of this conversation were not sent to it. Say in words what is on them, or choose a model that sees pictures (llm_model).`
  tell(deps, model.id, text)
}

/** For a message that is about to run as a script. */
export function tellUnseenByShell(deps: PictureDeps, input: StoredEvent): void {
  if (input.kind !== 'action:message' || toldOf(deps).includes(SHELL)) return
  // Stored by this service: an action that was validated when it arrived.
  const { args } = JSON.parse(input.text) as { args: { image_urls: string[] | null } }
  if ((args.image_urls ?? []).length === 0) return
  tell(deps, SHELL, 'No language model works in this conversation, so nobody looks at the pictures of a message.')
}

const toldOf = ({ calls }: PictureDeps) => (calls.recall(TOLD) ?? []) as string[]

function tell(deps: PictureDeps, who: string, text: string): void {
  deps.calls.remember(TOLD, [...toldOf(deps), who])
  deps.emit([errorObservation('environment', text, { errorId: USER_ONLY })])
}

const holdsPicture = ({ content }: Entry): boolean =>
  content.kind === 'user' && content.parts.some(({ type }) => type === 'image')
