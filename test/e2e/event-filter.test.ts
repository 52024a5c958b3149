// The filter of the event stream as a JSON body of a GET. No fetch sends one, so this speaks HTTP by itself, to the real
// service, over one connection that has to stay usable whatever was asked.

import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'

/** What the person who runs the tests has set must not decide them. */
const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))

type Stored = { id: number; action?: string; observation?: string; args?: { command?: string } }
type Answer = { status: number; events: Stored[]; detail: { type: string; loc: unknown[] }[] }
type EventRequest = { query?: string; body?: string; type?: string | null; isChunked?: boolean }

/** Asks for events; the body goes as it is, with a length or in two chunks. */
async function ask(
  agent: Agent,
  url: string,
  { query = '', body, type = 'application/json', isChunked }: EventRequest,
) {
  const bytes = Buffer.from(body ?? '')
  const headers = {
    ...(body === undefined || type === null ? {} : { 'content-type': type }),
    ...(body === undefined ? {} : isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': bytes.length }),
  }
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = request(`${url}/events?limit=100${query}`, { method: 'GET', agent, headers }, resolve)
    sending.on('error', reject)
    if (isChunked) sending.write(bytes.subarray(0, 3))
    sending.end(isChunked ? bytes.subarray(3) : bytes)
  })
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  const parsed = JSON.parse(Buffer.concat(chunks).toString()) as Partial<Answer>
  return { status: answer.statusCode ?? 0, events: parsed.events ?? [], detail: parsed.detail ?? [] } satisfies Answer
}

const kind = ({ action, observation }: Stored) =>
  action === undefined ? `observation:${observation}` : `action:${action}`

test('a filter in the body of a GET works, wins over the query field by field, and is refused like any other body', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-event-filter-'))
  const service = await startService({ stateDir, env: CLEAN })
  onTestFinished(async () => {
    await service.stop()
    rmSync(stateDir, { recursive: true })
  })
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const reply = await fetch(`${service.url}/api/conversations${path}`, init)
    expect(reply.status).toBe(200)
    return (await reply.json()) as { conversation_id: string }
  }
  const { conversation_id: id } = await post('', {})
  await post(`/${id}/events`, { action: 'change_agent_state', args: { agent_state: 'paused' } })
  for (const command of ['echo 贵州茅台', 'echo "50%_*"'])
    await post(`/${id}/events`, { action: 'run', args: { command } })
  await post(`/${id}/events`, { action: 'run', args: { command: 'echo unseen', hidden: true } })

  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const find = (sent: EventRequest) => ask(agent, `${service.url}/api/conversations/${id}`, sent)
  const commands = async (sent: EventRequest) => (await find(sent)).events.flatMap(({ args }) => args?.command ?? [])
  const all = (await find({})).events
  expect(all.length).toBeGreaterThan(6)

  const filter = (fields: object) => JSON.stringify(fields)
  const runs = ['echo 贵州茅台', 'echo "50%_*"', 'echo unseen']
  expect(await commands({ body: filter({ include_types: ['run'] }) })).toEqual(runs)
  expect(await commands({ body: filter({ include_types: ['run'] }), isChunked: true })).toEqual(runs)
  expect(await commands({ body: filter({ include_types: ['run'] }), type: null })).toEqual(runs)
  expect(await commands({ body: filter({ query: '州茅' }) })).toEqual(runs.slice(0, 1))
  expect(await commands({ body: filter({ query: '"50%_*"' }), isChunked: true })).toEqual(runs.slice(1, 2))
  expect(await commands({ body: filter({ exclude_hidden: true, include_types: ['run'] }) })).toEqual(runs.slice(0, 2))

  // Field by field: the body's wins, and what it leaves out is the query's.
  const both = { query: '&include_types=run&exclude_hidden=true&query=echo', body: filter({ query: '茅台' }) }
  expect(await commands(both)).toEqual(runs.slice(0, 1))
  expect(
    await commands({ query: '&exclude_hidden=true', body: filter({ exclude_hidden: 'no', source: 'user' }) }),
  ).toEqual(runs)
  expect(await commands({ query: '&include_types=run', body: filter({ include_types: null }) })).toEqual(runs)
  expect((await find({ query: '&include_types=run', body: filter({ include_types: [] }) })).events).toEqual(all)

  for (const body of ['null', '', '{}', filter({ include_types: null, query: null, unknown: 1 })]) {
    expect((await find({ body })).events, body).toEqual(all)
  }
  // What is no wire name matches nothing, whatever its type.
  expect((await find({ body: filter({ include_types: [7, null, { run: 1 }, 'Bogus'] }) })).events).toEqual([])
  const without = all.filter((event) => kind(event) !== 'action:run')
  expect((await find({ body: filter({ exclude_types: ['run', 7, 'Bogus'] }) })).events).toEqual(without)

  const refused: [EventRequest, type: string, loc: unknown[]][] = [
    [{ body: '{"query":' }, 'json_invalid', ['body', 9]],
    [{ body: '[]' }, 'model_attributes_type', ['body']],
    [{ body: '{"query":5}' }, 'string_type', ['body', 'query']],
    [{ body: '{"include_types":"run"}' }, 'list_type', ['body', 'include_types']],
    [{ body: '{"start_date":"soon"}' }, 'value_error', ['body', 'start_date']],
    [{ body: '{"query":"echo"}', type: 'text/plain' }, 'model_attributes_type', ['body']],
  ]
  for (const [sent, type, loc] of refused) {
    const { status, detail } = await find(sent)
    expect([status, detail.map((item) => [item.type, item.loc])], sent.body).toEqual([422, [[type, loc]]])
  }
  // The connection survived all of it.
  expect(await commands({ body: filter({ include_types: ['run'] }), isChunked: true })).toEqual(runs)
})
