// Unpacks a backup beside the state folder and verifies its list of checksums. Only a complete backup replaces
// the folder, by one rename; until then nothing in the old folder changes.

import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { Fault, messageOf, outOfRoom } from '../start/fault.ts'
import { ASIDE, restoringAt, takeStateFolder } from '../start/state-folder.ts'
import { FORMAT, HEAD, SUMS } from './back-up.ts'
import { type TarEntry, TarReader } from './tar.ts'

/** Larger than the list of a hundred thousand files. */
const MOST_TEXT_BYTES = 32 * 1024 * 1024
const PATH = /^[\w.-]+(\/[\w.-]+)*$/
/** The subfolder in which a running service writes its process id. */
const OWN = 'start'

type Order = { readonly stateDir: string; readonly file: string; readonly overwrite: boolean }

/** Reads the whole backup and stores nothing; returns the number of files. Throws a `Fault` with the error. */
export function checkBackup(file: string): Promise<number> {
  return unpack(file, null)
}

/** `aside` is the new path of the former folder; null if there was none. */
export async function restore({ stateDir, file, overwrite }: Order): Promise<{ count: number; aside: string | null }> {
  const isThere = existsSync(stateDir) && readdirSync(stateDir).some((name) => name !== OWN)
  if (isThere && !overwrite) {
    throw new Fault(`${stateDir} is not empty. Name another folder with --state, or add --overwrite to move it aside.`)
  }
  if (!existsSync(file)) throw new Fault(`There is no file ${file}.`)
  const folder = await takeStateFolder(stateDir, { advice: 'Stop it, then restore.' })
  const unpacked = restoringAt(stateDir)
  try {
    // Left by an interrupted restore.
    rmSync(unpacked, { recursive: true, force: true })
    mkdirSync(join(unpacked, OWN), { recursive: true, mode: 0o700 })
    const count = await unpack(file, unpacked)
    // The lock prevents a start between the two renames.
    writeFileSync(join(unpacked, OWN, 'pid'), `${process.pid}\n`)
    return { count, aside: replace(stateDir, unpacked, isThere) }
  } finally {
    rmSync(unpacked, { recursive: true, force: true })
    folder.release()
  }
}

function replace(stateDir: string, unpacked: string, isThere: boolean): string | null {
  const aside = `${stateDir}${ASIDE}${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  try {
    renameSync(stateDir, aside)
  } catch (error) {
    throw new Fault(`${stateDir} cannot be moved aside (${messageOf(error)}): name a folder below it with --state.`)
  }
  try {
    renameSync(unpacked, stateDir)
  } catch (error) {
    renameSync(aside, stateDir)
    throw error
  }
  if (isThere) return aside
  rmSync(aside, { recursive: true })
  return null
}

async function unpack(file: string, into: string | null): Promise<number> {
  const packed = createReadStream(file)
  const archive = createGunzip()
  const read = pipeline(packed, archive)
  // The reader of the archive gets the same error.
  read.catch(() => {})
  try {
    const count = await unpackEntries(new TarReader(archive), into)
    archive.destroy()
    return count
  } catch (error) {
    archive.destroy()
    if (outOfRoom(error) !== null) throw error
    throw new Fault(`${file} cannot be restored: ${messageOf(error)}. Nothing was changed.`)
  }
}

async function unpackEntries(archive: TarReader, into: string | null): Promise<number> {
  const head = await archive.next()
  if (head?.path !== HEAD) throw new Fault('it is no archive of a backup')
  requireKnownFormat(await textOf(archive, head))
  const found = new Map<string, string>()
  for (;;) {
    const entry = await archive.next()
    if (entry === null) throw new Fault('its list of checksums is missing')
    if (entry.path === SUMS) {
      requireSums(found, await textOf(archive, entry))
      break
    }
    requirePlace(entry.path, found)
    found.set(entry.path, await store(archive, entry, into))
  }
  if ((await archive.next()) !== null) throw new Fault('something follows its list of checksums')
  // This also reads the end of the compressed data, which has its own checksum.
  await archive.end()
  return found.size
}

function requireKnownFormat(text: string): void {
  const head: unknown = JSON.parse(text)
  const format = typeof head === 'object' && head !== null && 'format' in head ? head.format : null
  if (format === FORMAT) return
  throw new Fault(`its format is ${JSON.stringify(format)}, and this release knows ${FORMAT}: a newer one wrote it`)
}

function requirePlace(path: string, found: ReadonlyMap<string, string>): void {
  const parts = path.split('/')
  const isPlain = PATH.test(path) && !parts.some((part) => part === '.' || part === '..') && parts[0] !== OWN
  if (!isPlain || found.has(path)) throw new Fault(`${JSON.stringify(path)} in it is no path of a backup`)
}

function requireSums(found: ReadonlyMap<string, string>, text: string): void {
  const told = new Map(
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  )
  for (const path of new Set([...told.keys(), ...found.keys()])) {
    if (told.get(path) !== found.get(path)) throw new Fault(`${JSON.stringify(path)} in it does not match its checksum`)
  }
}

async function textOf(archive: TarReader, entry: TarEntry): Promise<string> {
  if (entry.size > MOST_TEXT_BYTES) throw new Fault(`${entry.path} in it is too large`)
  const pieces: Buffer[] = []
  for await (const piece of archive.contents(entry)) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

/** Settles with the SHA-256 of the contents. */
async function store(archive: TarReader, entry: TarEntry, into: string | null): Promise<string> {
  const hash = createHash('sha256')
  async function* hashed() {
    for await (const piece of archive.contents(entry)) {
      hash.update(piece)
      yield piece
    }
  }
  if (into !== null) mkdirSync(dirname(join(into, entry.path)), { recursive: true })
  const nowhere = () => new Writable({ write: (_piece, _encoding, done) => done() })
  const place = into === null ? nowhere() : fileAt(join(into, entry.path), entry.mode)
  await pipeline(Readable.from(hashed()), place)
  return hash.digest('hex')
}

const fileAt = (path: string, mode: number) => createWriteStream(path, { flags: 'wx', mode, flush: true })
