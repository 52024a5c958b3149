// Those who use the service: owners with keys, their conversations, the runners of some, viewers and listeners.

import { startScriptedModel } from '../../test/support/scripted-model.ts'
import { scriptedAnswer } from '../bench/scripted-market.ts'
import { AgentConversation } from '../faults/agent-conversation.ts'
import { answerTo } from '../faults/agent-script.ts'
import { Machine } from '../faults/lent/machine.ts'
import { SteadyClient } from '../faults/steady-client.ts'
import { TaskBooks } from '../faults/task-books.ts'
import { Watcher } from '../faults/watcher.ts'
import type { Figures } from './figures.ts'
import type { Options } from './options.ts'

/** An owner has some conversations at once; a runner lends itself to so many. */
const PER_RUNNER = 10
const AT_ONCE = 10

export type Owner = { readonly name: string; readonly client: SteadyClient; readonly tasks: TaskBooks }
export type Member = { readonly owner: Owner; readonly conversation: AgentConversation; readonly isLent: boolean }

export type People = {
  readonly owners: Owner[]
  readonly members: Member[]
  readonly machines: Machine[]
  readonly viewers: Watcher[]
}

/** Answers agents with their task's next step, and analyses with a narrative without figures. */
export const startModel = () =>
  startScriptedModel({
    respond: ({ body }) => {
      const isAgent = Array.isArray((body as { tools?: unknown }).tools)
      return isAgent || !JSON.stringify(body).includes('one_sentence') ? answerTo(body) : { text: scriptedAnswer() }
    },
  })

export async function gather(url: string, rootKey: string, options: Options, figures: Figures): Promise<People> {
  const root = new SteadyClient(url, rootKey)
  const owners = await inTurns(options.owners, async (at): Promise<Owner> => {
    const name = `owner-${at}`
    const client = new SteadyClient(url, await keyFor(root, name, ['conversations', 'analysis']))
    return { name, client, tasks: new TaskBooks(`${url}/api/v1/analysis`, client.key) }
  })
  const machines: Machine[] = []
  const lenders = Math.min(options.owners, Math.ceil(options.lent / PER_RUNNER))
  for (let at = 0; at < lenders; at++) {
    const key = await keyFor(root, `owner-${at}`, ['runner'])
    machines.push(await Machine.start(`runner-${at}`, Number(new URL(url).port), key))
  }
  const members = await inTurns(options.conversations, async (at): Promise<Member> => {
    const isLent = at < options.lent
    const owner = ownerOf(owners, isLent ? at % lenders : at)
    const id = `load-${at}`
    const path = `/api/conversations?runtime=${isLent ? 'runner' : 'edge'}`
    await figures.time('conversation created', () => owner.client.ask(path, { json: { conversation_id: id } }))
    const conversation = new AgentConversation(owner.client, id, { forkedAt: -1, onEvent: () => {} })
    await conversation.makeReady()
    return { owner, conversation, isLent }
  })
  const viewers = Array.from({ length: Math.max(0, options.sockets - members.length) }, (_, at) => {
    const { owner, conversation } = members[at % members.length] as Member
    return new Watcher(`${url}${conversation.path}/ws`, () => {}, owner.client.key)
  })
  return { owners, members, machines, viewers }
}

async function keyFor(root: SteadyClient, owner: string, scopes: readonly string[]): Promise<string> {
  const json = { owner, name: scopes.join(' '), scopes }
  const { body } = await root.ask<{ key: string }>('/api/keys', { json, expect: [200, 201] })
  return body.key
}

const ownerOf = (owners: readonly Owner[], at: number): Owner => owners[at % owners.length] as Owner

/** So many, a few at a time, in their order. */
async function inTurns<T>(count: number, make: (at: number) => Promise<T>): Promise<T[]> {
  const made: T[] = []
  for (let at = 0; at < count; at += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, one) => make(at + one))
    made.push(...(await Promise.all(some)))
  }
  return made
}
