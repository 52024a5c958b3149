// Reading an answer of a model, token by token, as the agent reads it and as the SDK's `streamText` does. The answer lies
// ready in memory: what is timed is the way from its bytes to the pieces of text, and nothing of a network.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { streamText } from 'ai'
import type { AddressPolicy } from '../../../src/lib/address-policy.ts'
import { languageModel } from '../../../src/llm/client.ts'
import type { Prompt } from '../../../src/llm/model.ts'

const URL_BASE = 'http://model.invalid/v1'
const CLOSED: AddressPolicy = { allowPrivate: [], personMayUseLoopback: false, ownOrigins: [], marker: null }
/** Tokens that arrive in one piece of the connection, as a busy vendor sends them. */
const TOKENS_A_PIECE = 16
const WORDS = [
  'The',
  ' files',
  ' in',
  ' this',
  ' folder',
  ' hold',
  ' the',
  ' sources',
  ',',
  ' a',
  ' README',
  ' and',
  '\n',
]

const PROMPT: Prompt = {
  system: 'Be brief.',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'What is there?' }] }],
  tools: [],
}

const answers = new Map<number, Uint8Array[]>()

function answerOf(tokens: number): Uint8Array[] {
  const known = answers.get(tokens)
  if (known !== undefined) return known
  const encoder = new TextEncoder()
  const frame = (delta: unknown, finish: string | null) => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }]
    const head = { id: 'chatcmpl-0123456789', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'gpt-4o' }
    return `data: ${JSON.stringify({ ...head, system_fingerprint: 'fp_0123456789', choices })}\n\n`
  }
  const frames = Array.from({ length: tokens }, (_, at) => frame({ content: WORDS[at % WORDS.length] }, null))
  frames.push(frame({}, 'stop'), 'data: [DONE]\n\n')
  const pieces: Uint8Array[] = []
  for (let at = 0; at < frames.length; at += TOKENS_A_PIECE) {
    pieces.push(encoder.encode(frames.slice(at, at + TOKENS_A_PIECE).join('')))
  }
  answers.set(tokens, pieces)
  return pieces
}

function answering(pieces: readonly Uint8Array[]): typeof fetch {
  return () => {
    let at = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces[at]
        at += 1
        if (piece === undefined) controller.close()
        else controller.enqueue(piece)
      },
    })
    return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
  }
}

async function ours(fetch: typeof globalThis.fetch): Promise<number> {
  let pieces = 0
  const place = { model: 'gpt-4o', baseUrl: URL_BASE, apiKey: 'k', isTrustedAddress: true } as const
  const choice = { id: 'openai/gpt-4o', label: 'The vendor', dialect: 'openai-chat', ...place } as const
  const model = await languageModel(choice, { addressPolicy: CLOSED, purse: null, fetch })
  await model.ask(PROMPT, {
    onDelta: () => {
      pieces += 1
    },
  })
  return pieces
}

async function baseline(fetch: typeof globalThis.fetch): Promise<number> {
  let pieces = 0
  const provider = createOpenAICompatible({ name: 'vendor', baseURL: URL_BASE, apiKey: 'k', fetch })
  const { textStream } = streamText({
    model: provider('gpt-4o'),
    system: PROMPT.system,
    prompt: 'What is there?',
    maxRetries: 0,
  })
  for await (const _ of textStream) pieces += 1
  return pieces
}

// biome-ignore lint/style/noDefaultExport: a Worker's entry is its default export
export default {
  async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url)
    const tokens = Number(url.searchParams.get('tokens'))
    const fetch = answering(answerOf(tokens))
    const startedAt = Date.now()
    const pieces = await (url.pathname === '/ours' ? ours(fetch) : baseline(fetch))
    const ms = Date.now() - startedAt
    if (pieces !== tokens) return new Response(`${pieces} of ${tokens} tokens came through`, { status: 500 })
    return Response.json({ tokens, ms })
  },
}
