// A model server on loopback with OpenAI's chat completions API. It records the service's requests, and its
// responses come from a script.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ChatRequest = {
  model: string
  messages: { role: string; content: string }[]
  stream?: boolean
  response_format?: { type: string; json_schema?: { schema: unknown } }
}

export type Scripted = { status?: number; content?: string; finish?: string; body?: string; afterMs?: number }

export type LoopbackModel = {
  url: string
  asked: { authorization: string | undefined; request: ChatRequest }[]
  stop: () => Promise<void>
}

export async function loopbackModel(script: (call: number, request: ChatRequest) => Scripted): Promise<LoopbackModel> {
  const asked: LoopbackModel['asked'] = []
  const server = createServer((request, response) => {
    void answer(request, response)
  })
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ChatRequest
    asked.push({ authorization: request.headers.authorization, request: body })
    const { status = 200, content = '', finish = 'stop', body: raw, afterMs = 0 } = script(asked.length, body)
    if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs))
    if (body.stream === true && status === 200 && raw === undefined) {
      streamed(response, { model: body.model, content, finish })
      return
    }
    response.writeHead(status, { 'content-type': 'application/json' })
    const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: finish }
    const reply = { id: 'x', model: body.model, choices: [choice], usage: { total_tokens: 42 } }
    response.end(raw ?? JSON.stringify(reply))
  }
  // The server does not keep the process alive.
  server.unref()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

const PIECE = 40

/** The answer in pieces, as event frames. */
function streamed(response: ServerResponse, reply: { model: string; content: string; finish: string }): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const frame = (delta: object, finish_reason: string | null, more: object = {}) => {
    const chunk = {
      id: 'x',
      object: 'chat.completion.chunk',
      model: reply.model,
      choices: [{ index: 0, delta, finish_reason }],
    }
    response.write(`data: ${JSON.stringify({ ...chunk, ...more })}\n\n`)
  }
  for (let i = 0; i < reply.content.length; i += PIECE) frame({ content: reply.content.slice(i, i + PIECE) }, null)
  frame({}, reply.finish, { usage: { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 } })
  response.end('data: [DONE]\n\n')
}
