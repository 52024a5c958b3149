// What any route through an object costs before it does anything.

import { DurableObject } from 'cloudflare:workers'
import { Hono } from 'hono'

type Bindings = { OBJECT: DurableObjectNamespace<EmptyObject> }

export class EmptyObject extends DurableObject {
  nothing(): void {}
}

const app = new Hono<{ Bindings: Bindings }>()
app.get('/ask', async (c) => {
  await c.env.OBJECT.get(c.env.OBJECT.idFromName('one')).nothing()
  return c.text('ok')
})

// biome-ignore lint/style/noDefaultExport: a Worker's entry is its default export
export default app
