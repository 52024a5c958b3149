import { request } from '../helpers/app.ts'

export type Frame = { id: number | null; event: string; data: Record<string, unknown> }

export type Reader = {
  response: Response
  /** Every frame so far. */
  frames: Frame[]
  /** Waits until a frame fulfils the condition, counting those that came before. */
  until(condition: (frame: Frame, all: Frame[]) => boolean): Promise<Frame>
  close(): void
}

/** Opens the event stream with the key and reads it in the background. */
export async function openStream(
  key: string,
  { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
): Promise<Reader> {
  const abort = new AbortController()
  const response = await request(`/api/v1/analysis/tasks/stream${query}`, {
    headers: { 'x-session-api-key': key, ...headers },
    signal: abort.signal,
  })
  const frames: Frame[] = []
  const waiting = new Set<() => void>()
  const reader = response.body?.getReader()
  const pump = async () => {
    let rest = ''
    for (;;) {
      const chunk = await reader?.read()
      if (!chunk || chunk.done) return
      const parts = (rest + new TextDecoder().decode(chunk.value)).split('\n\n')
      rest = parts.pop() ?? ''
      frames.push(...parts.map(parse))
      for (const wake of waiting) wake()
    }
  }
  const done = pump()
  const until = async (condition: (frame: Frame, all: Frame[]) => boolean): Promise<Frame> => {
    for (let seen = 0; ; ) {
      for (; seen < frames.length; seen++) {
        const frame = frames[seen]
        if (frame && condition(frame, frames.slice(0, seen + 1))) return frame
      }
      const ended = await Promise.race([
        done.then(() => true),
        new Promise<boolean>((resolve) => waiting.add(() => resolve(false))),
      ])
      if (ended && seen === frames.length) throw new Error(`the stream ended after ${seen} frames`)
    }
  }
  return { response, frames, until, close: () => void reader?.cancel().then(() => abort.abort()) }
}

/** A frame in the one shape that is promised: `id:` first or absent, then `event:`, then `data:` on one line. */
function parse(text: string): Frame {
  const match = /^(?:id: (\d+)\n)?event: (\w+)\ndata: (.*)$/.exec(text)
  if (!match) throw new Error(`not a frame: ${JSON.stringify(text)}`)
  const [, id, event = '', data = ''] = match
  return { id: id === undefined ? null : Number(id), event, data: JSON.parse(data) }
}

export const isEnd = ({ event }: Frame): boolean => event === 'task_completed' || event === 'task_failed'
