// A log with nothing around it: the text of a request becomes a row, and goes to the sockets as it came.

import { DurableObject } from 'cloudflare:workers'
import { Hono } from 'hono'

type Bindings = { OBJECT: DurableObjectNamespace<RawLog> }

const FRAME_EVENTS = 100

export class RawLog extends DurableObject<Bindings> {
  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env)
    ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, body TEXT NOT NULL)')
  }

  insert(text: string): void {
    this.ctx.storage.sql.exec('INSERT INTO events (body) VALUES (?)', text)
    for (const socket of this.ctx.getWebSockets()) socket.send(text)
  }

  fill(texts: string[]): void {
    for (const text of texts) this.ctx.storage.sql.exec('INSERT INTO events (body) VALUES (?)', text)
  }

  /** A socket; with `replay`, all rows are sent first, so many in a frame. */
  override async fetch(request: Request): Promise<Response> {
    const { 0: client, 1: server } = new WebSocketPair()
    this.ctx.acceptWebSocket(server)
    if (new URL(request.url).searchParams.has('replay')) this.#replay(server)
    return new Response(null, { status: 101, webSocket: client })
  }

  /** A message is a row, and a commit, of its own. */
  override async webSocketMessage(socket: WebSocket, text: string): Promise<void> {
    this.ctx.storage.sql.exec('INSERT INTO events (body) VALUES (?)', text)
    await this.ctx.storage.sync()
    socket.send('{"type":"ack"}')
  }

  #replay(socket: WebSocket): void {
    const texts = this.ctx.storage.sql.exec<{ body: string }>('SELECT body FROM events ORDER BY id').toArray()
    for (let i = 0; i < texts.length; i += FRAME_EVENTS) {
      socket.send(
        `[${texts
          .slice(i, i + FRAME_EVENTS)
          .map(({ body }) => body)
          .join(',')}]`,
      )
    }
  }
}

const app = new Hono<{ Bindings: Bindings }>()
const one = (env: Bindings) => env.OBJECT.get(env.OBJECT.idFromName('one'))

app.post('/insert', async (c) => {
  await one(c.env).insert(await c.req.text())
  return c.text('ok')
})

app.post('/new', async (c) => {
  const name = crypto.randomUUID()
  await c.env.OBJECT.get(c.env.OBJECT.idFromName(name)).insert(await c.req.text())
  return c.text(name)
})

app.post('/fill', async (c) => {
  await one(c.env).fill(await c.req.json())
  return c.text('ok')
})

app.get('/ws', (c) => one(c.env).fetch(c.req.raw))

// biome-ignore lint/style/noDefaultExport: a Worker's entry is its default export
export default app
