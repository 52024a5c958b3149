// A conversation with a log as long as wanted, written into the files of a service that does not run.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const FOLDER = join('v3', 'do', 'bellwether-Conversation')

/** Adds events to the one conversation of the state until there are so many: messages of the agent, commands and outputs of some lines. */
export function growLog(stateDir: string, count: number): void {
  const folder = join(stateDir, FOLDER)
  const file = readdirSync(folder).find((name) => /^[0-9a-f]{64}\.sqlite$/.test(name))
  if (file === undefined) throw new Error('missing: the file of the conversation')
  const db = new DatabaseSync(join(folder, file))
  const first = (db.prepare('SELECT max(id) AS id FROM events').get()?.id ?? -1) as number
  const insert = db.prepare('INSERT INTO events (id, timestamp, source, kind, hidden, body) VALUES (?, ?, ?, ?, 0, ?)')
  db.exec('BEGIN')
  for (let id = first + 1; id < count; id++) {
    const event = eventOf(id)
    const kind = 'action' in event ? `action:${event.action}` : `observation:${event.observation}`
    insert.run(id, event.timestamp, event.source, kind, JSON.stringify(event))
  }
  db.exec('COMMIT')
  db.close()
}

function eventOf(id: number) {
  const base = {
    id,
    timestamp: new Date(Date.UTC(2026, 0, 1) + id * 1000).toISOString().replace('Z', '000Z'),
    message: '',
  }
  const kind = id % 4
  // No message of a user: the agent would answer it.
  if (kind === 0) {
    const content = `question ${id}, please`
    return { ...base, message: content, source: 'agent' as const, action: 'message', args: { content } }
  }
  if (kind === 3) {
    const content = `Answer ${id}: **done**.\n\n- one\n- two\n\n${'word '.repeat(id % 60)}`
    return { ...base, message: content, source: 'agent' as const, action: 'message', args: { content } }
  }
  if (kind === 1) {
    const command = `ls -la folder-${id}`
    return { ...base, source: 'agent' as const, action: 'run', args: { command, thought: '' } }
  }
  const content = Array.from({ length: 1 + (id % 12) }, (_, line) => `line ${line} of event ${id}`).join('\n')
  const extras = { command: `ls -la folder-${id - 1}`, metadata: { exit_code: 0 }, hidden: false }
  return { ...base, source: 'agent' as const, observation: 'run', cause: id - 1, content, extras }
}
