// A backup is a compressed tar of the state folder: the first entry `backup.json` describes it, the last entry `SHA256SUMS` lists
// its files. A truncated file lacks the last entry and is not a valid backup.

import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, readFileSync, rmSync, type Stats, statSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import { damageOf } from '../start/databases.ts'
import { Fault } from '../start/fault.ts'
import { ROOT } from '../start/paths.ts'
import { takeStateFolder } from '../start/state-folder.ts'
import { END_OF_TAR, paddingAfter, tarHeader } from './tar.ts'

export const FORMAT = 1
export const HEAD = 'backup.json'
export const SUMS = 'SHA256SUMS'

/** Files that a start generates again or that exist only while the service runs; `-shm` is the shared memory of a database. */
const NOT_KEPT = /^(start|programs|v3\/cache)(\/|$)|-shm$/

type Order = {
  readonly stateDir: string
  readonly file: string
  readonly overwrite: boolean
}

type FileEntry = { readonly path: string; readonly stats: Stats }

export type BackupReport = {
  readonly count: number
  readonly bytes: number
  /** Databases that SQLite cannot read: a backup of them restores what is there. */
  readonly damaged: readonly string[]
}

export async function backUp({ stateDir, file, overwrite }: Order): Promise<BackupReport> {
  if (!existsSync(join(stateDir, 'v3'))) throw new Fault(`There is no state of a service in ${stateDir}.`)
  if (!relative(stateDir, file).startsWith('..')) throw new Fault(`${file} is in the folder that is to be backed up.`)
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) throw new Fault(`${file} is a folder.`)
  if (existsSync(file) && !overwrite) throw new Fault(`${file} is there already. Name another, or add --overwrite.`)
  // A full disk must not prevent a backup to another place.
  const folder = await takeStateFolder(stateDir, { advice: 'Stop it, then back up.', leastFreeBytes: 0 })
  try {
    const kept = filesOf(stateDir)
    await writeArchive(stateDir, kept, file)
    return { count: kept.length, bytes: statSync(file).size, damaged: damagedIn(stateDir, kept) }
  } finally {
    folder.release()
  }
}

function filesOf(stateDir: string): FileEntry[] {
  const entries = readdirSync(stateDir, { recursive: true, withFileTypes: true })
  return entries.flatMap((entry) => {
    const path = relative(stateDir, join(entry.parentPath, entry.name)).replaceAll('\\', '/')
    if (NOT_KEPT.test(path) || entry.isDirectory()) return []
    if (!entry.isFile()) throw new Fault(`${join(stateDir, path)} is no file, and a backup cannot hold it.`)
    return [{ path, stats: statSync(join(stateDir, path)) }]
  })
}

/** Gets its name when it is complete on the disk; an earlier file of that name stays until then. */
async function writeArchive(stateDir: string, kept: readonly FileEntry[], file: string): Promise<void> {
  const unfinished = `${file}.new`
  // The file contains the keys of the service. The mode only applies to a new file.
  rmSync(unfinished, { force: true })
  const handle = await opened(unfinished)
  try {
    const gzip = createGzip({ level: constants.Z_BEST_SPEED })
    await pipeline(Readable.from(piecesOf(stateDir, kept)), gzip, handle.createWriteStream({ flush: true }))
    requireUnchanged(stateDir, kept)
    await rename(unfinished, file)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}

async function opened(file: string) {
  try {
    return await open(file, 'wx', 0o600)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    throw new Fault(`${file} cannot be written: ${error.code}`)
  }
}

async function* piecesOf(stateDir: string, kept: readonly FileEntry[]): AsyncGenerator<Buffer> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  yield* textEntry(HEAD, `${JSON.stringify({ format: FORMAT, version, madeAt: new Date().toISOString() })}\n`)
  let sums = ''
  for (const { path, stats } of kept) {
    yield tarHeader({ path, mode: stats.mode, size: stats.size })
    const hash = createHash('sha256')
    let bytes = 0
    if (stats.size > 0) {
      const contents: AsyncIterable<Buffer> = createReadStream(join(stateDir, path), { end: stats.size - 1 })
      for await (const piece of contents) {
        hash.update(piece)
        bytes += piece.length
        yield piece
      }
    }
    if (bytes !== stats.size) throw changed(join(stateDir, path))
    yield paddingAfter(stats.size)
    sums += `${hash.digest('hex')}  ${path}\n`
  }
  yield* textEntry(SUMS, sums)
  yield END_OF_TAR
}

function* textEntry(path: string, text: string): Generator<Buffer> {
  const contents = Buffer.from(text)
  yield tarHeader({ path, mode: 0o600, size: contents.length })
  yield contents
  yield paddingAfter(contents.length)
}

/** Checks for changes: we hold the folder's lock, but a program that ignores the lock may have written. */
function requireUnchanged(stateDir: string, kept: readonly FileEntry[]): void {
  const now = new Map(filesOf(stateDir).map(({ path, stats }) => [path, stats]))
  for (const { path, stats } of kept) {
    const later = now.get(path)
    now.delete(path)
    if (later?.ino !== stats.ino || later.size !== stats.size || later.mtimeMs !== stats.mtimeMs) {
      throw changed(join(stateDir, path))
    }
  }
  for (const path of now.keys()) throw changed(join(stateDir, path))
}

const changed = (path: string) =>
  new Fault(`${path} changed while it was backed up: something uses the folder. Stop it, then back up.`)

function damagedIn(stateDir: string, kept: readonly FileEntry[]): string[] {
  return kept.flatMap(({ path }) => {
    const damage = path.endsWith('.sqlite') ? damageOf(join(stateDir, path), true) : null
    return damage === null ? [] : [`${path} (${damage})`]
  })
}
