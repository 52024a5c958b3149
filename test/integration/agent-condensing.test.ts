import { abortAllDurableObjects } from 'cloudflare:test'
import { expect, test } from 'vitest'
import { type AgentChat, lastPrompt, startAgent, untilSaid } from '../helpers/agent.ts'

const STEPS = 45

const thinking = (n: number) => ({ calls: [{ name: 'think', arguments: { thought: `thought number ${n}` } }] })

/** After so many answers with one call each there are more than 120 events to show. */
const UNTIL_FULL = 40

async function longConversation(settings: Record<string, unknown> = {}): Promise<AgentChat> {
  const steps = Array.from({ length: STEPS }, (_, n) => thinking(n))
  const chat = await startAgent({ replies: [], settings })
  const notes = settings.enable_default_condenser === false ? [] : [{ text: 'NOTES: they thought a lot' }]
  const replies = [...steps.slice(0, UNTIL_FULL), ...notes, ...steps.slice(UNTIL_FULL)]
  await chat.model.set({ replies: [...replies, { text: 'done' }, { text: 'still here' }] })
  await chat.post('message', { content: 'the very first wish' })
  return chat
}

test('a long conversation is summarised: the model sees its beginning, the notes and the newest, and nothing is deleted', async () => {
  const chat = await longConversation()
  await untilSaid(chat, 'done')
  const prompt = JSON.stringify(await lastPrompt(chat))
  expect(prompt).toContain('the very first wish')
  expect(prompt).toContain('they thought a lot')
  expect(prompt).toContain(`thought number ${STEPS - 1}`)
  expect(prompt).not.toContain('thought number 3"')
  const all = await chat.events('?limit=100')
  expect(all.some(({ args }) => args?.thought === 'thought number 3')).toBe(true)
  const page = await chat.events('?limit=100&include_types=condensation')
  expect(page).toMatchObject([{ action: 'condensation', args: { summary: expect.stringContaining('they thought') } }])
  await abortAllDurableObjects()
  await chat.post('message', { content: 'are you there?' })
  await untilSaid(chat, 'still here')
  const after = JSON.stringify(await lastPrompt(chat))
  expect(after.split('they thought a lot')).toHaveLength(2)
  expect(after).toContain('the very first wish')
  expect(after).not.toContain('thought number 3"')
  expect(after.indexOf('the very first wish')).toBeLessThan(after.indexOf('they thought a lot'))
})

test('with the condenser switched off the model sees everything', async () => {
  const chat = await longConversation({ enable_default_condenser: false })
  await untilSaid(chat, 'done')
  expect(JSON.stringify(await lastPrompt(chat))).toContain('thought number 3')
})
