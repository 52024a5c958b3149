import { Hono } from 'hono'

const app = new Hono()
app.get('/hello', (c) => c.text('hello'))

// biome-ignore lint/style/noDefaultExport: a Worker's entry is its default export
export default app
