// Answers questions of the Worker about its files, over a binding that only the Worker has: see `src/lib/state-keeper.ts`.

import { closeSync, existsSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DiskReport, ObjectReport, StoredReport } from '../../src/lib/state-keeper.ts'
import { damageOf, objectFile, removeDatabase } from './databases.ts'
import { LEAST_FREE_BYTES, MIB } from './state-folder.ts'

const PROBE = new Uint8Array(64 * 1024)

/** The answer to a request of the Worker's; null for one that is none. */
export function answerAbout(
  stateDir: string,
  method: string,
  path: string,
): DiskReport | ObjectReport | StoredReport | null {
  if (path === '/disk') return { trouble: troubleOf(stateDir) }
  const [, about = '', className = '', id = ''] = /^\/(objects|stored)\/(\w+)\/(\w+)$/.exec(path) ?? []
  const file = objectFile(className, id)
  if (file === null) return null
  if (about === 'stored') return { isStored: existsSync(join(stateDir, file)) }
  const damage = damageOf(join(stateDir, file), true)
  if (method === 'DELETE' && damage !== null) removeDatabase(join(stateDir, file))
  return { damage, file }
}

/** A disk can refuse what it has room for: one that was mounted anew for reading alone, or one with a quota. So it is tried. */
function troubleOf(stateDir: string): string | null {
  const { bavail, bsize } = statfsSync(stateDir)
  const [free, least] = [bavail * bsize, LEAST_FREE_BYTES].map((bytes) => Math.floor(bytes / MIB))
  const refusal = writeProbe(join(stateDir, 'start', 'probe'))
  if (refusal === 'ENOSPC' || refusal === 'EDQUOT') return `the disk is full: ${free} MiB are free`
  if (refusal !== null) return `the disk cannot be written: ${refusal}`
  if (bavail * bsize >= LEAST_FREE_BYTES) return null
  return `the disk is nearly full: ${free} MiB are free, and at least ${least} are needed`
}

/** The code of the error that the system answers with, or null. */
function writeProbe(file: string): string | null {
  try {
    const descriptor = openSync(file, 'w', 0o600)
    try {
      writeSync(descriptor, PROBE)
    } finally {
      closeSync(descriptor)
      rmSync(file, { force: true })
    }
    return null
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code)
    throw error
  }
}
