// One question of a talk and the events until its answer. The turn continues without its client: a broken connection is
// resumed after the last received event, and the same question sent again joins the running turn.

import { ApiError, requestStream, sendJson } from '../api.ts'
import { say } from '../texts.ts'

export type Frame = {
  type: string
  message?: string
  step?: number
  tool?: string
  display_name?: string
  success?: boolean
  duration?: number
  content?: string
  error?: string | null
}

export type Question = { message: string; session_id: string; context: Record<string, unknown> | null }

const MOST_BREAKS = 8
const AGAIN_MS = 1_000

/** Resolves with the last frame, `done` or `error`. */
export async function askTalk(
  question: Question,
  { onFrame, signal }: { onFrame: (frame: Frame) => void; signal: AbortSignal },
): Promise<Frame> {
  let after: string | null = null
  for (let breaks = 0; ; breaks++) {
    try {
      const response = await send(question, after, signal)
      for await (const { id, frame } of framesOf(response)) {
        after = id ?? after
        if (frame.type === 'done' || frame.type === 'error') return frame
        onFrame(frame)
      }
    } catch (error) {
      // A refusal is an answer; any other error is a broken connection.
      const isRefused = error instanceof ApiError && error.status !== 0
      if (signal.aborted || isRefused || breaks >= MOST_BREAKS) throw error
    }
    if (breaks >= MOST_BREAKS) throw new ApiError(say('The connection was lost. The answer will be in the talk.'), 0)
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  }
}

function send(question: Question, after: string | null, signal: AbortSignal): Promise<Response> {
  const { headers, ...init } = sendJson('POST', question)
  const sent = new Headers(headers)
  if (after !== null) sent.set('last-event-id', after)
  return requestStream('/api/v1/agent/chat/stream', { ...init, headers: sent, signal })
}

async function* framesOf(response: Response): AsyncGenerator<{ id: string | null; frame: Frame }> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) return
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      const blocks = (rest + value).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const lines = block.split('\n')
        const data = lines.find((line) => line.startsWith('data: '))
        const id = lines.find((line) => line.startsWith('id: '))?.slice(4) ?? null
        if (data !== undefined) yield { id, frame: JSON.parse(data.slice(6)) as Frame }
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
