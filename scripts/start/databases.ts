// The SQLite files of a state folder. The runtime crashes with its own stack trace on a file that is
// not a database, and does not name the file. So the files that everything needs are checked before it is started.

import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Fault, messageOf } from './fault.ts'

export const CONVERSATIONS = 'do/bellwether-Conversation'
const D1 = 'd1/miniflare-D1DatabaseObject'
const FILE_OF_AN_OBJECT = /^[0-9a-f]{64}\.sqlite$/

/** Throws a `Fault` that names the file and the remedy if a file that everything needs cannot be read. */
export function requireSoundDatabases(stateDir: string): void {
  for (const file of neededFiles(join(stateDir, 'v3'))) {
    const damage = damageOf(join(stateDir, 'v3', file))
    if (damage === null) continue
    throw new Fault(
      `The database ${join(stateDir, 'v3', file)} is damaged (${damage}). Restore it from a backup, or move it away, with the files beside it that end in -wal and -shm, to begin without it: ${lossOf(file)}.`,
    )
  }
}

/** All files except those of conversations: there may be thousands, and a damaged one does not affect others. */
function neededFiles(v3: string): string[] {
  if (!existsSync(v3)) return []
  const files = readdirSync(v3, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'))
  return files.filter(
    (name) =>
      name.endsWith('.sqlite') &&
      !(name.startsWith(CONVERSATIONS) && FILE_OF_AN_OBJECT.test(name.split('/').at(-1) ?? '')),
  )
}

/** What SQLite says about this file; null when it can be read. `isThorough`: every page, not only the first. */
export function damageOf(file: string, isThorough = false): string | null {
  if (!existsSync(file)) return null
  let db: DatabaseSync | null = null
  try {
    db = new DatabaseSync(file, { readOnly: true })
    db.prepare('SELECT COUNT(*) FROM sqlite_master').get()
    if (!isThorough) return null
    const found = Object.values(db.prepare('PRAGMA quick_check(1)').get() ?? {})[0]
    return found === 'ok' ? null : String(found)
  } catch (error) {
    if (isDamage(error)) return messageOf(error)
    throw error
  } finally {
    db?.close()
  }
}

const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

function isDamage(error: unknown): boolean {
  // The lower byte is the primary code, the rest the extended code.
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : null
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB
}

function lossOf(file: string): string {
  if (file.startsWith(D1) && !file.endsWith('metadata.sqlite')) {
    return 'settings, secrets, keys, finished reports and the list of conversations are lost; the conversations themselves stay and can be opened by their ids'
  }
  if (file.startsWith('do/bellwether-TaskQueue/') && !file.endsWith('metadata.sqlite')) {
    return 'the tasks in the queue are lost; finished reports stay'
  }
  if (file.startsWith('r2/')) return 'the large files of workspaces are lost'
  if (file.startsWith('do/') && file.endsWith('metadata.sqlite')) {
    return 'only the times are lost at which sleeping objects were to wake; each sets its own again when it is next used'
  }
  if (file.startsWith('cache/') || file.endsWith('metadata.sqlite')) return 'nothing of yours is in it'
  return 'what is in it is lost'
}

/** The id in lower-case hexadecimal digits names the file; nothing else does. */
export function objectFile(className: string, id: string): string | null {
  if (!/^[A-Za-z]+$/.test(className) || !FILE_OF_AN_OBJECT.test(`${id}.sqlite`)) return null
  return join('v3', 'do', `bellwether-${className}`, `${id}.sqlite`)
}

export function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
}
