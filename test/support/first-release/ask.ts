// Sends requests to a service in local mode and records the responses.

export type Answer = { readonly status: number; readonly type: string; readonly body: unknown }

export type Ask = (call: string, body?: unknown) => Promise<Answer>

/** `ask('GET /health')`; a body is sent as JSON, a form as it is. */
export function askerOf(url: string): Ask {
  return async (call, body) => {
    const [method = '', path = ''] = call.split(' ')
    const isForm = body instanceof FormData
    const reply = await fetch(`${url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      ...(body === undefined || isForm ? {} : { headers: { 'content-type': 'application/json' } }),
    })
    const type = reply.headers.get('content-type')?.split(';')[0] ?? ''
    const text = await reply.text()
    return { status: reply.status, type, body: type === 'application/json' ? (JSON.parse(text) as unknown) : text }
  }
}

/** The fields of a response; throws unless it is a success. */
export async function successOf<T>(ask: Ask, call: string, body?: unknown): Promise<T> {
  const answer = await ask(call, body)
  if (answer.status >= 300) throw new Error(`${call}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body as T
}

const PATIENCE_MS = 120_000
const LOOK_EVERY_MS = 50

/** Repeats the request until the condition is true. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; !(await isSo()); ) {
    if (Date.now() > deadline) throw new Error(`never came: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

export type Happened = {
  id: number
  source?: string
  action?: string
  observation?: string
  message?: string
  content?: string
  extras?: { agent_state?: string }
}

/** Every event of a conversation. */
export async function eventsOf(ask: Ask, id: string): Promise<Happened[]> {
  const all: Happened[] = []
  for (;;) {
    const page = await successOf<{ events: Happened[]; has_more: boolean }>(
      ask,
      `GET /api/conversations/${id}/events?limit=100&start_id=${(all.at(-1)?.id ?? -1) + 1}`,
    )
    all.push(...page.events)
    if (!page.has_more) return all
  }
}

/** Sends the agent a message and waits until it is at rest; returns the events. */
export async function say(ask: Ask, id: string, content: string): Promise<Happened[]> {
  const before = (await eventsOf(ask, id)).length
  await successOf(ask, `POST /api/conversations/${id}/events`, { action: 'message', args: { content, image_urls: [] } })
  return settled(ask, id, before)
}

const AT_REST = new Set(['awaiting_user_input', 'awaiting_user_confirmation', 'finished', 'error', 'stopped'])

/** Waits until the agent has done something and is at rest again. */
export async function settled(ask: Ask, id: string, before: number): Promise<Happened[]> {
  let since: Happened[] = []
  await until(`the agent of ${id} at rest`, async () => {
    since = (await eventsOf(ask, id)).slice(before)
    const state = since.findLast(({ observation }) => observation === 'agent_state_changed')?.extras?.agent_state
    return AT_REST.has(state ?? '') && since.some(({ source }) => source === 'agent')
  })
  return since
}
