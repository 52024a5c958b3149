// A model that sees no pictures gets a note for each picture, and a shell not even that. The user is told once for each such
// model.

import type { LanguageModel } from '../../llm/model.ts'
import type { StoredEvent } from '../events.ts'
import { errorObservation, USER_ONLY } from '../observations.ts'
import type { TurnDeps } from '../turn-deps.ts'
import type { Entry, History } from './history.ts'

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
