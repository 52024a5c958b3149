// What rows about the agent share: a scripted model on loopback that notes when it is asked, a Worker that asks it, and a
// client on a socket of the conversation. Model and client live in one process, so their clocks are the same.

import { randomBytes } from 'node:crypto'
import { startScriptedModel } from '../../test/support/scripted-model.ts'
import type { ScriptedReply } from '../../test/support/scripted-model-orders.ts'
import { SocketClient } from './client/socket-client.ts'
import { ask } from './conversation.ts'
import type { Sample } from './rounds.ts'
import { plainTarget } from './rows/sockets.ts'
import type { Stage, WorkerSide } from './stage.ts'

const TURN_PATIENCE_MS = 300_000
const NAME = 'bench'

export type ModelRequest = { readonly at: number; readonly answersSoFar: number }

export type ModelBench = {
  readonly url: string
  /** What is answered from here on, to those who work through a task. */
  answer(script: (asked: ModelRequest) => ScriptedReply): void
}

export async function startModel(): Promise<ModelBench> {
  let script: (asked: ModelRequest) => ScriptedReply = () => ({ text: 'nothing was asked for' })
  const model = await startScriptedModel({
    respond: ({ body, answersSoFar }) => {
      // The question for a summary of what is left out comes without tools.
      const isStep = (body as { tools?: unknown }).tools !== undefined
      return isStep ? script({ at: performance.now(), answersSoFar }) : { text: 'What came before is done.' }
    },
    keepsProcess: false,
  })
  model.setScript(NAME, { replies: [], title: 'A conversation of the benchmark' })
  return {
    url: `${model.url}/${NAME}/v1`,
    answer: (next) => {
      script = next
    },
  }
}

/** A Worker whose agents ask this model. */
export function startAgentWorker(stage: Stage, { url }: ModelBench): Promise<WorkerSide> {
  const vars = { LLM_MODEL: 'openai/scripted', LLM_BASE_URL: url, LLM_API_KEY: 'sk-scripted' }
  return stage.startWorker({ vars })
}

/** One client of one conversation. */
export class AgentClient {
  readonly path: string
  readonly #socket: SocketClient
  readonly #listeners = new Set<(text: string) => void>()

  private constructor(path: string, socket: SocketClient, listeners: Set<(text: string) => void>) {
    this.path = path
    this.#socket = socket
    this.#listeners = listeners
  }

  static async open(worker: WorkerSide, path: string): Promise<AgentClient> {
    const listeners = new Set<(text: string) => void>()
    const target = plainTarget(worker, { path })
    const socket = await SocketClient.open(target, {
      text: (payload) => {
        const text = payload.toString()
        for (const listen of listeners) listen(text)
      },
    })
    return new AgentClient(path, socket, listeners)
  }

  say(content: string): void {
    this.#socket.send([JSON.stringify({ action: 'message', args: { content } })])
  }

  /** Settles with the instant at which such a frame came. */
  frame(what: string, fits: (text: string) => boolean): Promise<number> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        this.#listeners.delete(listen)
      }
      const listen = (text: string) => {
        const at = performance.now()
        const failed = /"agent_state":"error","reason":"([^"]*)/.exec(text)?.[1]
        if (failed !== undefined) reject(new Error(`the turn failed: ${failed}`))
        else if (!fits(text)) return
        else resolve(at)
        end()
      }
      const timer = setTimeout(() => {
        end()
        reject(new Error(`waited in vain for ${what}`))
      }, TURN_PATIENCE_MS)
      this.#listeners.add(listen)
    })
  }

  /** The end of the turn that is begun now. */
  turnEnd(): Promise<number> {
    return this.frame('the end of a turn', (text) => text.includes('"agent_state":"awaiting_user_input"'))
  }

  close(): void {
    this.#socket.close()
  }
}

/** A conversation with a client, which waits for its first message. */
export async function openAgent(worker: WorkerSide): Promise<AgentClient> {
  const id = randomBytes(8).toString('hex')
  await ask(worker, '/api/conversations', { conversation_id: id })
  return AgentClient.open(worker, `/api/conversations/${id}`)
}

/** Puts a conversation away: so many of an owner may run at a time. */
export async function putAway(worker: WorkerSide, client: AgentClient): Promise<void> {
  client.close()
  await ask(worker, `${client.path}/stop`, {})
}

export const sampleOf = (value: number): Sample => ({ value, clientCpu: null, serverMicros: null, waited: null })
