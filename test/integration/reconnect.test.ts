// Promise: a client that keeps its last id and comes back with it sees every event exactly once, in order, whatever
// happens to its sockets. Tried 60 times over each protocol, a thousand times when everything is to be proved, while the
// conversation is written to all the time and its object is evicted again and again.

import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, inject, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { type Chat, startConversation } from '../helpers/conversation.ts'
import { rawSocket } from '../helpers/sockets.ts'

const RECONNECTS = inject('isProof') ? 1_000 : 60
const EVICT_EVERY = 25
const EVENTS_HEAD = '{"type":"events","events":['
const IO_HEAD = '42["oh_event",'

const stubOf = (chat: Chat) => conversation(env, chat.owner.owner, chat.id)

/** The same numbers in every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

/** Events of every kind that a view treats differently; the last two members keep the loop from acting on them. */
const KINDS = [
  { source: 'user', action: 'change_agent_state' },
  { source: 'agent', action: 'run' },
  { source: 'user', action: 'recall' },
  { source: 'agent', action: 'null' },
  { source: 'environment', action: 'change_agent_state' },
  { source: 'environment', observation: 'agent_state_changed', content: '', extras: {} },
  { source: 'environment', observation: 'null', content: '', extras: {} },
  { source: 'environment', observation: 'recall', content: '', extras: {} },
  { source: 'environment', observation: 'think', content: '', extras: {} },
  { source: 'agent', observation: 'run', content: 'the words "source":"environment" mean nothing here', extras: {} },
] as const

/** The newest event so far. */
type Progress = { newestId: number; isOver: boolean }

/** Adds events until it is told to stop; now one, now a burst. */
async function write(chat: Chat, progress: Progress): Promise<void> {
  const roll = dice(7)
  while (!progress.isOver) {
    const burst = roll(8) === 0 ? 12 : 1
    await runInDurableObject(stubOf(chat), async (instance) => {
      const object = instance as unknown as { addEvent(event: object, ref: null): Promise<number> }
      for (let i = 0; i < burst; i++) {
        const kind = KINDS[roll(KINDS.length)] ?? KINDS[0]
        const event = { ...kind, message: '', args: { agent_state: 'user_confirmed', n: roll(1000) } }
        progress.newestId = await object.addEvent(event, null)
      }
    })
    await new Promise((resolve) => setTimeout(resolve, roll(4)))
  }
}

/** What came, and the newest event before and after. */
type Visit = { texts: string[]; newest: { before: number; after: number } }

/** Opens a socket, stays for as long or as many frames as the dice say, and drops it. */
async function visit(chat: Chat, path: string, roll: (sides: number) => number): Promise<string[]> {
  const answer = await stubOf(chat).fetch(`http://conversation/${path}`, { headers: { upgrade: 'websocket' } })
  let dropped = false
  const texts: string[] = []
  // A frame of Socket.IO is one event; the plain protocol sends what it has in one.
  const frames = roll(path.startsWith('socket.io') ? 120 : 12)
  const enough = Promise.withResolvers<void>()
  const socket = rawSocket(answer, {
    text: (text) => {
      if (dropped) return
      if (text.startsWith(IO_HEAD) || text.startsWith(EVENTS_HEAD)) texts.push(text)
      if (texts.length > frames) enough.resolve()
    },
  })
  if (path.startsWith('socket.io')) socket.send('40')
  const isInHurry = roll(4) === 0
  const patienceMs = roll(6) === 0 ? 40 : roll(8)
  if (!isInHurry) await Promise.race([enough.promise, new Promise((resolve) => setTimeout(resolve, patienceMs))])
  // What is on its way now is lost to the client.
  dropped = true
  socket.close()
  return texts
}

type Stored = { id: number; kind: string; source: string; text: string }

const allEvents = (chat: Chat): Promise<Stored[]> =>
  runInDurableObject(stubOf(chat), (_, { storage }) =>
    storage.sql.exec<Stored>('SELECT id, kind, source, body AS text FROM events ORDER BY id').toArray(),
  )

/** Lets a client come and go again and again; `lastIdOf` reads the last id from what a visit brought. */
async function comeAndGo(chat: Chat, pathAfter: (id: number) => string, lastIdOf: (texts: string[]) => number | null) {
  const roll = dice(42)
  const progress = { newestId: (await allEvents(chat)).length - 1, isOver: false }
  const writing = write(chat, progress)
  const visits: (Visit & { after: number })[] = []
  let after = -1
  try {
    for (let i = 1; i <= RECONNECTS; i++) {
      const before = progress.newestId
      const [texts] = await Promise.all([
        visit(chat, pathAfter(after), roll),
        i % EVICT_EVERY === 0 ? evictDurableObject(stubOf(chat)) : null,
      ])
      // One more may be stored, and its writer not be told yet.
      visits.push({ texts, after, newest: { before, after: progress.newestId + 1 } })
      after = lastIdOf(texts) ?? after
    }
  } finally {
    progress.isOver = true
    await writing
  }
  return { visits, after }
}

test('over the plain socket, the union of all visits is every event once, in order, byte for byte', async () => {
  const chat = await startConversation()
  const bodies = (texts: string[]) =>
    texts.map((text) => text.slice(EVENTS_HEAD.length, -2)).filter((text) => text !== '')
  const lastIdOf = (texts: string[]) => {
    const parsed = JSON.parse(`[${bodies(texts).join(',')}]`) as { id: number }[]
    return parsed.at(-1)?.id ?? null
  }
  const { visits, after } = await comeAndGo(chat, (id) => `ws?after=${id}`, lastIdOf)
  const rest = await chat.connect(`?after=${after}`)
  await rest.until(({ frames }) => frames.some(({ type }) => type === 'ready'))
  const seen = [...visits.flatMap(({ texts }) => bodies(texts)), ...rest.events().map((event) => JSON.stringify(event))]
  const stored = await allEvents(chat)
  expect(stored.length).toBeGreaterThan(RECONNECTS)
  expect(visits.filter(({ texts }) => texts.length === 0).length).toBeGreaterThan(RECONNECTS / 20)
  expect(seen.join(',') === stored.map(({ text }) => text).join(',')).toBe(true)
})

/**
 * What a Socket.IO client is sent after it joined: the replay up to some event, then what happened live. `newestState` is
 * the newest state event when it joined. Null where nothing is sent.
 */
function ioView({ id, kind, source, text }: Stored, place: { newestState: number; liveAfter: number }): string | null {
  if (kind === 'action:null' || kind === 'observation:null') return null
  const isState = kind === 'observation:agent_state_changed'
  if (id <= place.liveAfter) return kind === 'action:recall' || (isState && id < place.newestState) ? null : text
  if (source !== 'environment') return text
  const isShown = isState || ['run', 'recall', 'error'].some((name) => kind === `observation:${name}`)
  return isShown ? JSON.stringify({ ...JSON.parse(text), source: 'agent' }) : null
}

/** Whether what was seen is how the view begins, for some moment of joining and some moment of going live. */
function beginsView(stored: Stored[], { texts, after, newest }: Visit & { after: number }): boolean {
  const seen = texts.map((text) => text.slice(IO_HEAD.length, -1))
  const missed = stored.filter(({ id }) => id > after)
  const isState = ({ kind }: Stored) => kind === 'observation:agent_state_changed'
  for (let joined = newest.before; joined <= newest.after; joined++) {
    const newestState = stored.findLast((event) => event.id <= joined && isState(event))?.id ?? -1
    for (const liveAfter of [joined, ...missed.map(({ id }) => id).filter((id) => id > joined)]) {
      let at = 0
      for (const event of missed) {
        if (at === seen.length) return true
        const text = ioView(event, { newestState, liveAfter })
        if (text === null) continue
        if (text !== seen[at]) break
        at += 1
      }
      if (at === seen.length) return true
    }
  }
  return false
}

test('over Socket.IO, each visit begins its view after the last id, and nothing shows twice', async () => {
  const chat = await startConversation()
  const idsOf = (texts: string[]) =>
    texts.map((text) => (JSON.parse(text.slice(IO_HEAD.length, -1)) as { id: number }).id)
  const { visits, after } = await comeAndGo(
    chat,
    (id) => `socket.io?after=${id}`,
    (texts) => idsOf(texts).at(-1) ?? null,
  )
  const rest = await chat.connectIo(after)
  await chat.post('change_agent_state', { agent_state: 'paused' })
  await rest.until((s) => s.events().at(-1)?.extras?.agent_state === 'paused')
  const stored = await allEvents(chat)
  expect(stored.length).toBeGreaterThan(RECONNECTS)
  for (const [i, made] of visits.entries()) {
    expect(beginsView(stored, made), `visit ${i} after ${made.after}: ${made.texts.join('\n')}`).toBe(true)
  }
  const ids = [...visits.flatMap(({ texts }) => idsOf(texts)), ...rest.events().map(({ id }) => id)]
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
  const seen = new Set(ids)
  const inBothViews = stored.filter(({ kind }) => /^(action:(change_agent_state|run)|observation:run)$/.test(kind))
  expect(inBothViews.filter(({ id, source }) => source !== 'environment' && !seen.has(id))).toEqual([])
})
