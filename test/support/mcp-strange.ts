// A tool server that misbehaves in the way that its path selects: `/strange/<manner>/<journal>`. Its requests are
// listed at `/journal/<journal>`.

import type { IncomingMessage, ServerResponse } from 'node:http'

type Message = { id?: number; method: string; params?: Record<string, unknown> }
type Manner = (message: Message, response: ServerResponse, request: IncomingMessage) => void

const journals = new Map<string, { method: string; headers: IncomingMessage['headers'] }[]>()
const MEGABYTE = 1024 * 1024

export async function strange(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, what = '', name = '', journal = ''] = (request.url ?? '').split('/')
  if (what === 'journal') {
    response.end(JSON.stringify(journals.get(name) ?? []))
    return
  }
  const body = await bodyOf(request)
  const message: Message = body === '' ? { method: request.method ?? '' } : JSON.parse(body)
  journals.set(journal, [...(journals.get(journal) ?? []), { method: message.method, headers: request.headers }])
  const manner = MANNERS[name]
  if (manner === undefined) return void response.writeHead(404).end()
  manner(message, response, request)
}

/** A correct server except for the given overrides. */
function but(answers: Record<string, unknown | Manner>): Manner {
  return (message, response, request) => {
    const answer = answers[message.method]
    if (typeof answer === 'function') return (answer as Manner)(message, response, request)
    if (answer !== undefined) return result(response, message, answer)
    if (message.method === 'initialize') return result(response, message, HELLO)
    if (message.method === 'tools/list') return result(response, message, { tools: [tool('plain')] })
    if (message.id === undefined) return void response.writeHead(202).end()
    response.writeHead(200, JSON_TYPE)
    response.end(
      JSON.stringify({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Method not found' } }),
    )
  }
}

const JSON_TYPE = { 'content-type': 'application/json' }
const HELLO = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'strange', version: '1' },
}
const tool = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  description: `The tool ${name}`,
  inputSchema: { type: 'object', properties: {} },
  ...more,
})

function result(response: ServerResponse, message: Message, value: unknown): void {
  response.writeHead(200, JSON_TYPE)
  response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: value }))
}

const send =
  (type: string, text: (message: Message) => string): Manner =>
  (message, response) => {
    response.writeHead(200, { 'content-type': type })
    response.end(text(message))
  }

const nested = (depth: number) =>
  JSON.parse(`${'{"type":"object","properties":{"a":'.repeat(depth)}{}${'}}'.repeat(depth)}`)

/** Fifty megabytes, one megabyte at a time, while the client reads. */
const endless: Manner = (_message, response) => {
  response.writeHead(200, JSON_TYPE)
  let sent = 0
  const more = () => {
    while (sent < 50 && !response.destroyed) {
      sent += 1
      if (!response.write('x'.repeat(MEGABYTE))) return void response.once('drain', more)
    }
    response.end()
  }
  more()
}

let pages = 0

const MANNERS: Record<string, Manner> = {
  polite: but({ 'tools/call': { content: [{ type: 'text', text: 'done' }] } }),
  silent: () => undefined,
  'silent-on-call': but({ 'tools/call': (() => undefined) as Manner }),
  many: but({ 'tools/list': { tools: Array.from({ length: 2_000 }, (_, at) => tool(`tool_${at}`)) } }),
  'endless-pages': but({
    'tools/list': ((message, response) =>
      result(response, message, { tools: [tool(`page_${++pages}`)], nextCursor: `c${pages}` })) as Manner,
  }),
  'same-cursor': but({ 'tools/list': { tools: [tool('again')], nextCursor: 'again' } }),
  'large-listing': but({ 'tools/list': endless }),
  'large-answer': but({ 'tools/call': endless }),
  'large-text': but({ 'tools/call': { content: [{ type: 'text', text: `start${'é'.repeat(2 * MEGABYTE)}end` }] } }),
  'large-image': but({
    'tools/call': { content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(4 * MEGABYTE) }] },
  }),
  'not-json': send('application/json', () => '{"jsonrpc":"2.0",'),
  'not-json-stream': send('text/event-stream', () => 'event: message\ndata: {"jsonrpc":\n\n'),
  'not-a-message': send('application/json', () => '{"hello":"world"}'),
  html: send('text/html', () => '<h1>token=hunter2</h1>'),
  'cut-stream': send('text/event-stream', () => ': nothing to say\n\n'),
  'refuses-key': (_message, response, request) => {
    const where = `http://10.0.0.1/.well-known/oauth-protected-resource`
    response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${where}"` })
    response.end(`no entry with ${request.headers.authorization}`)
  },
  fails: (_message, response) => void response.writeHead(500).end('trace with a token: hunter2'),
  'redirects-inside': (_message, response) =>
    void response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  'names-inside': (_message, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('event: endpoint\ndata: http://169.254.169.254/latest/\n\n')
  },
  'silent-stream': (_message, response) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
  'odd-tools': but({
    'tools/list': {
      tools: [
        tool('read file/now!'),
        tool('read.file.now?'),
        tool('执行'),
        tool('9lives'),
        tool('x'.repeat(150)),
        tool('y'.repeat(500)),
        tool(''),
        tool('execute_bash'),
        tool('twice', { description: 'first' }),
        tool('twice', { description: 'second' }),
        tool('text_schema', { inputSchema: 'object' }),
        tool('list_schema', { inputSchema: [] }),
        tool('string_schema', { inputSchema: { type: 'string' } }),
        tool('no_schema', { inputSchema: undefined }),
        tool('deep_schema', { inputSchema: nested(2_000) }),
        tool('huge_schema', { inputSchema: { type: 'object', description: 'z'.repeat(50_000) } }),
        tool('proto_schema', { inputSchema: JSON.parse('{"type":"object","__proto__":{"polluted":true}}') }),
        tool('bare', { inputSchema: { type: 'object' } }),
        tool('long', { description: 'd'.repeat(100_000) }),
        tool('safe_again', { annotations: { idempotentHint: true } }),
        'not a tool',
        null,
      ],
    },
  }),
  'odd-results': but({
    'tools/call': ((message, response) => result(response, message, ODD[String(message.params?.name)])) as Manner,
    'tools/list': { tools: ['unknown-part', 'structure', 'failure', 'nothing', 'crowd'].map((name) => tool(name)) },
  }),
}

const ODD: Record<string, unknown> = {
  'unknown-part': { content: [{ type: 'hologram', data: 1 }, { type: 'text', text: 'seen' }, 7] },
  structure: { structuredContent: { answer: 42 } },
  failure: { content: [{ type: 'text', text: 'no such file' }], isError: true },
  nothing: {},
  crowd: { content: Array.from({ length: 500 }, () => ({ type: 'text', text: 'a' })) },
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}
