// Shows events as text, complete ones and those in progress.

import type { Event, Frame, Stand } from '../index.ts'
import { clean, cleanCommand, cleanLine, type Output } from './terminal.ts'

export class Transcript {
  readonly #out: Output
  /** Whether the user's messages are shown too. */
  readonly #showsUser: boolean
  #streamed = ''
  #answer = ''
  /** Output that was shown before its event, by action. */
  readonly #printed = new Map<number, string>()
  /** The cursor is after an unfinished line. */
  #isOpen = false
  /** The action that waits for the user. */
  awaiting: Event | null = null

  constructor(out: Output, { showsUser }: { showsUser: boolean }) {
    this.#out = out
    this.#showsUser = showsUser
  }

  frame(frame: Frame): void {
    if (this.#out.isJson) {
      if (frame.type === 'event') this.#out.json(frame.event)
      if (frame.type === 'event') this.#noteAwaiting(frame.event)
    } else if (frame.type === 'event') this.event(frame.event)
    else if (frame.type === 'delta') this.#delta(frame)
    else if (frame.type === 'output') this.#output(frame.action_id, frame.text)
    else if (frame.type === 'lost') this.#note(`connection lost, trying again (${cleanLine(frame.message)})`)
    else if (frame.type === 'status' && frame.level === 'error') this.#note(cleanLine(frame.message))
  }

  event(event: Event): void {
    this.#noteAwaiting(event)
    const { action, observation, source } = event
    if (action === 'message') this.#said(event)
    else if (action !== undefined && source === 'agent' && action !== 'system') this.#does(event)
    else if (action === 'run') this.#line(this.#out.color.cyan(`$ ${cleanCommand(String(event.args?.command ?? ''))}`))
    else if (observation === 'run' || observation === 'run_ipython') this.#printedAll(event)
    else if (observation === 'error') this.#line(this.#out.color.red(clean(event.content ?? event.message)))
    else if (observation === 'agent_state_changed') this.#state(event)
  }

  /** Ends the unfinished line. */
  close(): void {
    if (this.#isOpen) this.#out.piece('\n')
    this.#isOpen = false
  }

  #noteAwaiting(event: Event): void {
    if (event.args?.confirmation_state === 'awaiting_confirmation') this.awaiting = event
  }

  #said({ source, args, message }: Event): void {
    const text = clean(String(args?.content ?? message))
    if (source === 'user') {
      if (this.#showsUser) this.#line(this.#out.color.bold(`› ${text}`))
      return
    }
    if (this.#streamed.trim() === '') this.#line(text)
    this.#streamed = ''
    this.close()
  }

  #does(event: Event): void {
    this.#streamed = ''
    const { color } = this.#out
    const { action, args, message } = event
    const waits = args?.confirmation_state === 'awaiting_confirmation' ? color.yellow(' (waits for you)') : ''
    if (action === 'run') this.#line(color.cyan(`$ ${cleanCommand(String(args?.command ?? ''))}`) + waits)
    else if (action === 'finish') this.#line(clean(String(args?.final_thought || message)))
    else this.#line(color.dim(cleanLine(message || String(action))) + waits)
  }

  #delta(frame: Extract<Frame, { type: 'delta' }>): void {
    if (frame.kind !== 'text') return
    const answer = `${frame.answer}.${frame.attempt}`
    if (answer !== this.#answer) {
      this.#answer = answer
      this.#streamed = ''
    }
    this.#streamed += frame.text
    this.#piece(frame.text)
  }

  #output(action: number, text: string): void {
    this.#printed.set(action, (this.#printed.get(action) ?? '') + text)
    this.#piece(text)
  }

  #printedAll({ cause, content = '', extras }: Event): void {
    const before = cause === undefined ? '' : (this.#printed.get(cause) ?? '')
    if (cause !== undefined) this.#printed.delete(cause)
    // Text that was already shown is not repeated; the event's text has its line ends trimmed.
    if (before.trim() === '') {
      if (content !== '') this.#line(clean(content))
    } else if (content.startsWith(before)) this.#piece(content.slice(before.length))
    this.close()
    const code = (extras?.metadata as { exit_code?: number } | undefined)?.exit_code
    if (code !== undefined && code > 0) this.#line(this.#out.color.red(`exit code ${code}`))
  }

  #state({ extras }: Event): void {
    const { agent_state: state, reason } = extras ?? {}
    if (state === 'error')
      this.#line(
        this.#out.color.red(`The agent stopped with an error: ${cleanLine(String(reason || 'no reason given'))}`),
      )
    else if (state === 'paused') this.#note('paused')
  }

  #note(text: string): void {
    this.close()
    this.#out.note(text, 'dim')
  }

  #line(text: string): void {
    this.close()
    this.#out.line(text)
  }

  #piece(text: string): void {
    const shown = clean(text)
    if (shown === '') return
    this.#out.piece(shown)
    this.#isOpen = !shown.endsWith('\n')
  }
}

/** Shows frames until the agent has stopped. */
export async function showUntilRest(turn: AsyncGenerator<Frame, Stand>, transcript: Transcript): Promise<Stand> {
  for (;;) {
    const next = await turn.next()
    if (next.done) {
      transcript.close()
      return next.value
    }
    transcript.frame(next.value)
  }
}
