// Access to the scripted model server for tests in the Workers runtime.

import { inject } from 'vitest'
import type { RecordedRequest, Script, ScriptedReply } from '../support/scripted-model-orders.ts'

export type Scripted = {
  /** Base URLs of the chat completions API, and of OpenAI's and Anthropic's own APIs. */
  readonly baseUrl: string
  readonly googleUrl: string
  set(script: Script): Promise<void>
  /** Releases the held replies of the script. */
  release(): Promise<void>
  requests(): Promise<RecordedRequest[]>
}

let made = 0

/** A new script. The server keeps its state between tests, so each test uses a new name. */
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
