// A conversation with a log as long as wanted, written into the files of a service that does not run.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const FOLDER = join('v3', 'do', 'bellwether-Conversation')

/** Adds events to the one conversation of the state until there are so many: messages of the agent, commands and outputs of some lines. */
export function growLog(stateDir: string, count: number, eventAt: (id: number) => LogEvent = eventOf): void {
  const folder = join(stateDir, FOLDER)
  const file = readdirSync(folder).find((name) => /^[0-9a-f]{64}\.sqlite$/.test(name))
  if (file === undefined) throw new Error('missing: the file of the conversation')
  const db = new DatabaseSync(join(folder, file))
  const first = (db.prepare('SELECT max(id) AS id FROM events').get()?.id ?? -1) as number
  const insert = db.prepare('INSERT INTO events (id, timestamp, source, kind, hidden, body) VALUES (?, ?, ?, ?, 0, ?)')
  db.exec('BEGIN')
  for (let id = first + 1; id < count; id++) {
    const event = eventAt(id)
    const kind = 'action' in event ? `action:${event.action}` : `observation:${event.observation}`
    insert.run(id, event.timestamp, event.source, kind, JSON.stringify(event))
  }
  db.exec('COMMIT')
  db.close()
}

type LogEvent = { timestamp: string; source: 'agent' } & ({ action: string } | { observation: string })

const baseOf = (id: number) => ({
  id,
  timestamp: new Date(Date.UTC(2026, 0, 1) + id * 1000).toISOString().replace('Z', '000Z'),
  message: '',
  source: 'agent' as const,
})

export const messageAt = (id: number, content: string): LogEvent => ({
  ...baseOf(id),
  ...{ message: content, action: 'message', args: { content } },
})

/** Of which nothing is shown. */
export const silentAt = (id: number): LogEvent => ({ ...baseOf(id), ...{ observation: 'null', content: '' } })

export function eventOf(id: number): LogEvent {
  const base = baseOf(id)
  const kind = id % 4
  // No message of a user: the agent would answer it.
  if (kind === 0) {
    return messageAt(id, `question ${id}, please`)
  }
  if (kind === 3) {
    return messageAt(id, `Answer ${id}: **done**.\n\n- one\n- two\n\n${'word '.repeat(id % 60)}`)
  }
  if (kind === 1) {
    const command = `ls -la folder-${id}`
    return { ...base, ...{ action: 'run', args: { command, thought: '' } } }
  }
  const content = Array.from({ length: 1 + (id % 12) }, (_, line) => `line ${line} of event ${id}`).join('\n')
  const extras = { command: `ls -la folder-${id - 1}`, metadata: { exit_code: 0 }, hidden: false }
  return { ...base, ...{ observation: 'run', cause: id - 1, content, extras } }
}
