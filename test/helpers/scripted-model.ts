// The scripted model server, as tests in the Workers runtime see it.

import { inject } from 'vitest'
import type { RecordedRequest, Script, ScriptedReply } from '../support/scripted-model-orders.ts'

export type Scripted = {
  /** Of the chat dialect, and of OpenAI's and Anthropic's own. */
  readonly baseUrl: string
  readonly googleUrl: string
  set(script: Script): Promise<void>
  /** Lets go of the replies of the script that are held. */
  release(): Promise<void>
  requests(): Promise<RecordedRequest[]>
}

let made = 0

/** A script of its own; the server forgets nothing between tests, so each takes a fresh name. */
export async function scriptedModel(...replies: ScriptedReply[]): Promise<Scripted> {
  made += 1
  const root = `${inject('modelServer')}/${crypto.randomUUID().slice(0, 8)}-${made}`
  const order = async (name: string, body = '') => {
    const response = await fetch(`${root}/${name}`, { method: 'PUT', body })
    await response.json()
  }
  const set = (script: Script) => order('script', JSON.stringify(script))
  await set({ replies })
  return {
    baseUrl: `${root}/v1`,
    googleUrl: `${root}/v1beta`,
    set,
    release: () => order('release'),
    requests: async () => (await (await fetch(`${root}/requests`)).json()) as RecordedRequest[],
  }
}
