// Talks about reports with a scripted model: what the existing page sends, and what it reads of a stream.

import type { ScriptedReply } from '../support/scripted-model-orders.ts'
import { type Client, client } from './app.ts'
import { type Scripted, scriptedModel } from './scripted-model.ts'

export type Frame = { type: string } & Record<string, unknown>
export type Talker = Client & {
  model: Scripted
  session: string
  /** Sends a question and returns the response unread. */
  post(message: string, more?: Record<string, unknown>, headers?: Record<string, string>): Promise<Response>
  /** Sends a question and reads the stream to its end. */
  chat(message: string, more?: Record<string, unknown>): Promise<Frame[]>
  messages(query?: string): Promise<{ id: string; role: string; content: string; created_at: string }[]>
}

export const STREAM = '/api/v1/agent/chat/stream'
export const SESSIONS = '/api/v1/agent/chat/sessions'

/** An owner with the scripted model, and a new session. */
export async function talker(replies: ScriptedReply[], given?: Client): Promise<Talker> {
  const by = given ?? (await client())
  const model = await scriptedModel(...replies)
  const settings = { llm_model: 'openai/scripted', llm_base_url: model.baseUrl, llm_api_key: 'sk-scripted-0123456789' }
  const stored = await by.ask('/api/settings', { method: 'POST', body: settings })
  if (!stored.ok) throw new Error(`settings: ${stored.status} ${await stored.text()}`)
  const session = crypto.randomUUID()
  const post: Talker['post'] = (message, more = {}, headers = {}) =>
    by.ask(STREAM, {
      method: 'POST',
      body: { message, session_id: session, ...more },
      headers: { 'accept-language': 'en', ...headers },
    })
  return {
    ...by,
    model,
    session,
    post,
    chat: async (message, more) => framesOf(await (await post(message, more)).text()),
    messages: async (query = '') => (await by.json<{ messages: [] }>(`${SESSIONS}/${session}${query}`)).messages,
  }
}

/** Parses a stream as the page does: lines that begin with `data: `, each a JSON object; other lines are skipped. */
export function framesOf(text: string): Frame[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as Frame)
}

export const lastOf = (frames: readonly Frame[]): Frame => frames.at(-1) ?? { type: 'nothing' }

export const call = (name: string, args: Record<string, unknown>) => ({ name, arguments: args })
