// A failure of the storage itself, told from a defect of ours. The runtime hides why an object failed behind a number that
// only its log explains; where somebody keeps the files, as `npm start` does, they are asked.

import type { Context } from 'hono'
import { conversationPlace } from '../bindings.ts'
import { errorFields, log } from '../lib/log.ts'
import { diskTrouble, objectDamage } from '../lib/state-keeper.ts'
import type { AppEnv } from './app-env.ts'

export type StorageFault = { code: 'storage_full' | 'unavailable'; message: string }

const FULL = /\bSQLITE_FULL\b/
const DAMAGED = /\bSQLITE_(CORRUPT|NOTADB)\b/
/** What the runtime says of an object that it could not open or whose writes it could not keep. */
const OF_THE_RUNTIME = /^internal error\b|\bSQLITE_(IOERR|READONLY|CANTOPEN|PERM)\b/
/** Written by `durable-objects/sql.ts`. */
const NEWER = /^This was stored by a newer release\b/

/** What is wrong with the storage, when that is why this failed; null for every other failure. */
export async function storageFault(error: unknown, c: Context<AppEnv>): Promise<StorageFault | null> {
  const said = error instanceof Error ? error.message : String(error)
  if (NEWER.test(said)) return { code: 'unavailable', message: said }
  if (FULL.test(said)) return full('the disk is full')
  if (!OF_THE_RUNTIME.test(said) && !DAMAGED.test(said)) return null
  try {
    const trouble = await diskTrouble(c.env)
    return trouble === null ? await damageFault(c, DAMAGED.test(said)) : full(trouble)
  } catch (fault) {
    // The keeper cannot be asked: then the failure itself is all that is known.
    log.warn('http.state_not_asked', errorFields(fault))
    return null
  }
}

const full = (trouble: string): StorageFault => ({
  code: 'storage_full',
  message: `Nothing was stored: ${trouble}. Try again when that is mended; the service needs no restart`,
})

async function damageFault(c: Context<AppEnv>, isDamage: boolean): Promise<StorageFault | null> {
  const id = conversationOf(c)
  const owner = c.get('principal')?.owner
  const found =
    id === null || owner === undefined ? null : await objectDamage(c.env, conversationPlace(c.env, owner, id))
  if (found !== null) {
    const message = `The stored data of this conversation is damaged and cannot be read (${found.file}: ${found.damage}). Restore that file from a backup while the service is stopped, or delete the conversation`
    return { code: 'unavailable', message }
  }
  return isDamage
    ? { code: 'unavailable', message: 'The stored data is damaged; start the service again to hear which' }
    : null
}

function conversationOf(c: Context<AppEnv>): string | null {
  const [, inPath = null] = /^\/api\/conversations\/([^/]+)/.exec(c.req.path) ?? []
  return inPath ?? c.get('conversationId') ?? c.req.query('conversation_id') ?? null
}
