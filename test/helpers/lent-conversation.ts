// Conversations whose commands run on a stand-in runner, for tests of the service.

import { expect } from 'vitest'
import { client } from './app.ts'
import { type Chat, startConversation } from './conversation.ts'
import type { StoredEvent } from './sockets.ts'
import { type Behaviour, joinedRunner } from './stand-in-runner.ts'

/** A runner of the owner and a conversation that runs on it. */
export async function lentConversation(behaviour: Behaviour, description: Record<string, unknown> = {}) {
  const owner = await client()
  const runner = await joinedRunner(owner.owner, behaviour, description)
  const chat = await startConversation({}, owner)
  await chat.settled()
  return { owner, runner, chat }
}

export const say = (chat: Chat, content: string) => chat.post('message', { content })

/** The observation of the newest command. */
export async function outcome(chat: Chat, commands = 1): Promise<StoredEvent> {
  const runs = async () =>
    (await chat.events()).filter(({ observation }) => observation === 'run' || observation === 'error')
  await expect.poll(async () => (await runs()).length).toBe(commands)
  return (await runs()).at(-1) as StoredEvent
}
