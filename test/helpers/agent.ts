// Conversations whose agent calls a scripted model.

import { expect } from 'vitest'
import type { ScriptedReply } from '../support/scripted-model-orders.ts'
import { type Client, client } from './app.ts'
import { type Chat, isInState, startConversation } from './conversation.ts'
import { type Scripted, scriptedModel } from './scripted-model.ts'

export type AgentChat = Chat & { model: Scripted }

export type AgentSetup = {
  replies: ScriptedReply[]
  /** Further settings of the owner. */
  settings?: Record<string, unknown>
  body?: Record<string, unknown>
  owner?: Client
}

/** A conversation of a new owner whose settings name the scripted model. */
export async function startAgent({ replies, settings = {}, body = {}, owner }: AgentSetup): Promise<AgentChat> {
  const by = owner ?? (await client())
  const model = await scriptedModel(...replies)
  const stored = await by.ask('/api/settings', {
    method: 'POST',
    body: {
      llm_model: 'openai/scripted',
      llm_base_url: model.baseUrl,
      llm_api_key: 'sk-scripted-0123456789',
      ...settings,
    },
  })
  if (!stored.ok) throw new Error(`settings: ${stored.status} ${await stored.text()}`)
  return { ...(await startConversation(body, by)), model }
}

/** The first call of a model loads its client code, which is slow on a busy machine. */
const PATIENCE = { interval: 20 }

/** The newest events, in order: a long conversation has more than one page of them. */
const newest = async (chat: Chat) => (await chat.events('?limit=100&reverse=true')).reverse()

export const inState = (chat: Chat, state: string) =>
  expect.poll(async () => isInState(await newest(chat), state), PATIENCE).toBe(true)

/** Resolves when a message event has exactly this text. */
export const untilSaid = (chat: Chat, message: string) =>
  expect.poll(async () => (await newest(chat)).some((event) => event.message === message), PATIENCE).toBe(true)

export const bash = (command: string, id = '') => ({ id, name: 'execute_bash', arguments: { command } })

/** A command that lasts until the test makes this file. */
export const untilMade = (name: string) => `until [ -e ${name} ]; do sleep 0.02; done`

export async function make(chat: Chat, name: string): Promise<void> {
  const body = new FormData()
  body.append('files', new File(['made'], name))
  const made = await chat.owner.ask(`${chat.path}/upload-files`, { method: 'POST', body })
  if (!made.ok) throw new Error(`not made: ${made.status} ${await made.text()}`)
}

export type PromptMessage = { role: string; content: unknown; tool_calls?: unknown[]; tool_call_id?: string }

/** The messages of the last request to the model. */
export async function lastPrompt({ model }: AgentChat): Promise<PromptMessage[]> {
  const asked = (await model.requests()).filter(({ method }) => method === 'POST')
  const body = asked.at(-1)?.body as { messages: PromptMessage[] } | undefined
  return body?.messages ?? []
}
