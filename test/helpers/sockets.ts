/** A test's socket: every text in order, its close, and a way to wait for an expected frame. */
export type RawSocket = {
  readonly texts: string[]
  readonly closed: { code: number; reason: string } | null
  send(data: string | ArrayBuffer): void
  /** Resolves when the condition is true; fails after a minute with the received frames. */
  until(condition: () => boolean): Promise<void>
  close(): void
}

/** A client of the plain protocol; it answers `check` frames unless this is switched off. */
export type TestSocket = {
  frames: Record<string, unknown>[]
  /** The events of all frames so far, in order. */
  events(): StoredEvent[]
  send(frame: unknown): void
  until(condition: (socket: TestSocket) => boolean): Promise<void>
  /** Answers the checks received so far and all later ones. */
  answerChecks(): void
  close(): void
}

/** A minimal Socket.IO client; it answers pings unless this is switched off. */
export type IoSocket = {
  readonly texts: string[]
  readonly closed: { code: number; reason: string } | null
  /** The payloads of `oh_event`, in order: events and status frames. */
  objects(): StoredEvent[]
  events(): StoredEvent[]
  send(text: string | ArrayBuffer): void
  /** Sends an event in a packet, with an id if it needs an acknowledgement. */
  emit(name: string, payload: unknown, ack?: number): void
  until(condition: (socket: IoSocket) => boolean): Promise<void>
  answerPings(): void
  close(): void
}

export type StoredEvent = {
  id: number
  timestamp: string
  source: string
  message: string
  cause?: number
  action?: string
  args?: Record<string, unknown>
  observation?: string
  content?: string
  extras?: Record<string, unknown>
  success?: boolean
  tool_call_metadata?: { tool_call_id: string }
}

const PATIENCE_MS = 60_000
const CHECK = '{"type":"check"}'

type Listener = { text?: (text: string) => void; close?: (closed: { code: number; reason: string }) => void }

/** Wraps the response to an upgrade request. */
export function rawSocket(response: Response, on: Listener = {}): RawSocket {
  const ws = response.webSocket
  if (ws === null) throw new Error(`no socket: ${response.status}`)
  const texts: string[] = []
  let closed: RawSocket['closed'] = null
  let changed = () => {}
  ws.addEventListener('message', ({ data }) => {
    texts.push(String(data))
    on.text?.(String(data))
    changed()
  })
  ws.addEventListener('close', ({ code, reason }) => {
    closed = { code, reason }
    on.close?.(closed)
    changed()
  })
  ws.accept()
  return {
    texts,
    get closed() {
      return closed
    },
    send: (data) => ws.send(data),
    until: async (condition) => {
      const deadline = Date.now() + PATIENCE_MS
      while (!condition()) {
        const left = deadline - Date.now()
        if (left <= 0) throw new Error(`waited in vain; closed: ${JSON.stringify(closed)}; last: ${ending(texts)}`)
        await Promise.race([
          new Promise<void>((resolve) => {
            changed = resolve
          }),
          new Promise((resolve) => setTimeout(resolve, left)),
        ])
      }
    },
    close: () => ws.close(1000, 'done'),
  }
}

const ending = (texts: string[]): string => texts.join('\n').slice(-3000)

export function testSocket(response: Response, { answersChecks = true } = {}): TestSocket {
  const frames: Record<string, unknown>[] = []
  let answers = answersChecks
  let unanswered = 0
  const raw = rawSocket(response, {
    text: (text) => {
      frames.push(JSON.parse(text))
      if (text !== CHECK) return
      if (answers) raw.send(CHECK)
      else unanswered += 1
    },
    close: (closed) => frames.push({ type: 'closed', ...closed }),
  })
  const socket: TestSocket = {
    frames,
    events: () => frames.flatMap((frame) => (frame.type === 'events' ? (frame.events as StoredEvent[]) : [])),
    send: (frame) => raw.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    until: (condition) => raw.until(() => condition(socket)),
    answerChecks: () => {
      answers = true
      for (; unanswered > 0; unanswered--) raw.send(CHECK)
    },
    close: raw.close,
  }
  return socket
}

export function ioSocket(response: Response, { answersPings = true } = {}): IoSocket {
  const objects: StoredEvent[] = []
  let answers = answersPings
  let unanswered = 0
  const raw = rawSocket(response, {
    text: (text) => {
      const object = objectOf(text)
      if (object !== null) objects.push(object)
      if (text !== '2') return
      if (answers) raw.send('3')
      else unanswered += 1
    },
  })
  const socket: IoSocket = {
    texts: raw.texts,
    get closed() {
      return raw.closed
    },
    objects: () => objects,
    events: () => objects.filter(({ id }) => typeof id === 'number'),
    send: raw.send,
    emit: (name, payload, ack) => raw.send(`42${ack ?? ''}${JSON.stringify([name, payload])}`),
    until: (condition) => raw.until(() => condition(socket)),
    answerPings: () => {
      answers = true
      for (; unanswered > 0; unanswered--) raw.send('3')
    },
    close: raw.close,
  }
  return socket
}

function objectOf(text: string): StoredEvent | null {
  if (!text.startsWith('42')) return null
  const [name, object] = JSON.parse(text.slice(2)) as [string, StoredEvent]
  return name === 'oh_event' ? object : null
}
