// The stream of one turn of a talk. The talk's object reports the steps, from its events; here they become the frames
// that the page reads: lines that begin with `data: `. The client may disconnect and reconnect; the turn continues
// without it.

import type { Context } from 'hono'
import { CHAT_TEXTS, toolLabel } from '../../analysis/chat/texts.ts'
import type { ReportLanguage } from '../../analysis/schemas.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { isStillAdmitted } from '../../http/auth.ts'
import { errorFields, log } from '../../lib/log.ts'

/** In the form of the talk's object. */
type Step =
  | { id: number; kind: 'begun' }
  | { id: number; kind: 'thinking' | 'writing'; step: number }
  | { id: number; kind: 'tool_start'; step: number; tool: string }
  | { id: number; kind: 'tool_done'; step: number; tool: string; success: boolean; seconds: number }
  | { id: number; kind: 'ended'; content: string | null; failure: string | null; steps: number; seconds: number }

type Turn = {
  language: ReportLanguage
  sessionId: string
  /** A notice for the user; null for none. */
  notice: string | null
  /** The client has everything up to this event. */
  after: number
  /** The steps after an event; null if the talk was deleted. */
  steps(after: number, waitMs: number): Promise<Step[] | null>
}

const HEARTBEAT_MS = 15_000
/** The time between attempts to reach an object that was restarted, and their number. */
const AGAIN_MS = 200
const MOST_TRIES = 25

export function chatStream(c: Context<AppEnv>, turn: Turn): Response {
  const encoder = new TextEncoder()
  const frames = framesOf(c, turn)
  const body = new ReadableStream<Uint8Array>({
    // One piece at a time: with a slow client, no more is read.
    pull: async (controller) => {
      const { value, done } = await frames.next()
      if (done === true) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    // Calls that are waiting end by themselves.
    cancel: () => void frames.return(undefined),
  })
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
  })
}

async function* framesOf(c: Context<AppEnv>, turn: Turn): AsyncGenerator<string, void, undefined> {
  if (turn.notice !== null) yield frame({ type: 'notice', message: turn.notice })
  let { after } = turn
  for (let tries = 0; ; ) {
    const steps = await stepsOrError(turn, after)
    if (steps instanceof Error) {
      tries += 1
      if (tries > MOST_TRIES) return yield frame({ type: 'error', message: CHAT_TEXTS[turn.language].stopped })
      await scheduler.wait(AGAIN_MS)
      continue
    }
    tries = 0
    if (steps === null) return yield frame({ type: 'error', message: CHAT_TEXTS[turn.language].stopped })
    if (steps.length > 0)
      yield steps.map((step, i) => told(step, { turn, isLast: steps[i + 1]?.id !== step.id })).join('')
    if (steps.at(-1)?.kind === 'ended') return
    after = steps.at(-1)?.id ?? after
    if (steps.length > 0) continue
    yield ': heartbeat\n\n'
    if (!(await mayStay(c))) return yield frame({ type: 'error', message: CHAT_TEXTS[turn.language].stopped })
  }
}

/** If the object restarts during the call, the call is repeated: the steps are stored. */
async function stepsOrError(turn: Turn, after: number): Promise<Step[] | null | Error> {
  try {
    return await turn.steps(after, HEARTBEAT_MS)
  } catch (error) {
    log.warn('chat.steps_not_told', errorFields(error))
    return error instanceof Error ? error : new Error('unknown')
  }
}

/** If the check fails temporarily, the stream continues. */
async function mayStay(c: Context<AppEnv>): Promise<boolean> {
  try {
    return await isStillAdmitted(c, 'analysis')
  } catch (error) {
    log.warn('chat.check_failed', errorFields(error))
    return true
  }
}

/** The last frame of an event has its id: a client that resumes after it has the complete event. */
function told(step: Step, { turn, isLast }: { turn: Turn; isLast: boolean }): string {
  const frames = wire(step, turn).map((value) => frame(value))
  const last = frames.pop() ?? ''
  return frames.join('') + (isLast ? `id: ${step.id}\n${last}` : last)
}

const frame = (value: object): string => `data: ${JSON.stringify(value)}\n\n`

const STAGE = 'answer'

function wire(step: Step, { language, sessionId }: Turn): object[] {
  const texts = CHAT_TEXTS[language]
  switch (step.kind) {
    case 'begun':
      return [{ type: 'stage_start', stage: STAGE, message: texts.stage }]
    case 'thinking':
      return [{ type: 'thinking', step: step.step, message: texts.thinking }]
    case 'writing':
      return [{ type: 'generating', step: step.step, message: texts.writing }]
    case 'tool_start':
      return [{ type: 'tool_start', ...toolOf(step, language) }]
    case 'tool_done':
      return [{ type: 'tool_done', ...toolOf(step, language), success: step.success, duration: step.seconds }]
    case 'ended': {
      const { content, failure, steps, seconds } = step
      const success = content !== null
      const status = success ? 'completed' : 'failed'
      return [
        { type: 'stage_done', stage: STAGE, status, duration: seconds },
        {
          type: 'done',
          success,
          content: content ?? failure ?? '',
          error: success ? null : failure,
          total_steps: steps,
          session_id: sessionId,
        },
      ]
    }
  }
}

const toolOf = ({ step, tool }: { step: number; tool: string }, language: ReportLanguage) => ({
  step,
  tool,
  display_name: toolLabel(tool, language),
})
