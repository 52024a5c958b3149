// A model that sees no pictures is only told that there is one, and a shell not even that. The user has to know it too, once
// for each of them.

import { errorObservation } from '../../src/agent/observations.ts'
import type { LanguageModel } from '../../src/llm/model.ts'
import type { StoredEvent } from './event-log.ts'
import { type Entry, type History, USER_ONLY } from './history.ts'
import type { Desk } from './turn.ts'

/** The models of which it was told. */
const TOLD = 'unseen_pictures_told'
const SHELL = 'shell'

export function tellUnseen({ desk, history }: { desk: Desk; history: History }, model: LanguageModel): void {
  if (model.seesImages) return
  if (toldOf(desk).includes(model.id) || !history.entries().some(holdsPicture)) return
  const text = `The model ${model.id} sees no pictures, so those of this conversation were not sent to it. Say in words what is on them, or choose a model that sees pictures (llm_model).`
  tell(desk, model.id, text)
}

/** Of a message that is about to be run as a script. */
export function tellUnseenByShell(desk: Desk, input: StoredEvent): void {
  if (input.kind !== 'action:message' || toldOf(desk).includes(SHELL)) return
  // Our own row: an action that was validated when it came in.
  const { args } = JSON.parse(input.text) as { args: { image_urls: string[] | null } }
  if ((args.image_urls ?? []).length === 0) return
  tell(desk, SHELL, 'No language model works in this conversation, so nobody looks at the pictures of a message.')
}

const toldOf = ({ calls }: Desk) => (calls.recall(TOLD) ?? []) as string[]

function tell(desk: Desk, who: string, text: string): void {
  desk.calls.remember(TOLD, [...toldOf(desk), who])
  desk.emit([errorObservation('environment', text, { errorId: USER_ONLY })])
}

const holdsPicture = ({ content }: Entry): boolean =>
  content.kind === 'user' && content.parts.some(({ type }) => type === 'image')
