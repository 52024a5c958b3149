// Commands about all data of an owner.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { BellwetherError, type ExportStanding, type ImportStanding, type Reply, ServiceError } from '../index.ts'
import { type Command, EXIT, none, type Run, requiredArgument, UsageError } from './command.ts'
import { cleanLine } from './terminal.ts'

type Standing = Reply<'GET /api/owner'>

const LOOK_EVERY_MS = 1_000

export const erase: Command = {
  name: 'erase',
  summary: 'delete everything that an owner has, for good',
  usage: 'OWNER',
  flags: {
    yes: { type: 'boolean', words: 'it is meant; without this nothing is deleted' },
    'no-wait': { type: 'boolean', words: 'order it and leave: the service goes on by itself' },
  },
  examples: ['bellwether erase ann --yes', 'bellwether erase local --yes --json'],
  more: `Conversations, files, reports, portfolio, settings, secrets, all of it, and the keys last; rows in the ledger of advice stay. Your own key needs the
scopes conversations and analysis; another owner's takes the scope admin. In local mode the owner is called local. The command may be given again, also while it goes on.`,
  async run(run) {
    none(run.args, 1)
    const owner = requiredArgument(run.args, 0, 'the owner')
    if (!run.is('yes'))
      throw new UsageError(`everything of "${owner}" would be deleted for good; --yes says that it is meant`)
    const ordered = await run.service.call('DELETE /api/owner', { body: { owner, confirm: 'delete everything' } })
    const last = run.is('no-wait') ? ordered : await followed(run, owner, ordered)
    if (run.out.isJson) run.out.json(last)
    else if (last.deletion !== null) run.out.line(`It is ordered and goes on: ${toldOf(last)}`)
    else run.out.line(`Everything of ${cleanLine(owner)} is deleted${keptOf(last)}.`)
    return EXIT.done
  },
}

/** Until it is finished. The deletion removes the owner's keys too, so a refused key also means the end. */
async function followed(run: Run, owner: string, ordered: Standing): Promise<Standing> {
  let last = ordered
  while (last.deletion !== null) {
    run.out.progress(toldOf(last))
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    try {
      last = await run.service.call('GET /api/owner', { query: { owner } })
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status !== 401) throw error
      return { ...last, deletion: null }
    }
  }
  return last
}

function toldOf({ deletion }: Standing): string {
  if (deletion === null) throw new BellwetherError('no_deletion', 'nothing is being deleted')
  const { phase, conversations, tasks, files, rows, problem } = deletion
  const counts = `${conversations} conversations, ${tasks} entries of the queue, ${files} files, ${rows} rows`
  return `${phase}: ${counts}${problem === null ? '' : `; ${cleanLine(problem)}`}`
}

const keptOf = ({ ledger_rows: rows }: Standing): string =>
  rows === 0 ? '' : `; ${rows} rows in the ledger of advice stay, as nothing can take them out`

/**
 * Saves the whole data of an owner to a file. An earlier incomplete download of the same export is continued; the file
 * gets its name when it is complete and verified.
 */
export async function exportAll(run: Run, file: string): Promise<void> {
  const isThere = await sizeOf(file)
  if (isThere !== null && !run.is('force')) throw new UsageError(`${file} is there already; --force overwrites it`)
  const before = await run.service.exports.state()
  const partOf = ({ export_id: id }: ExportStanding) => `${file}.${id.slice(0, 8)}.part`
  const goesOn = before?.state === 'ready' && (await sizeOf(partOf(before))) !== null
  if (!goesOn) await run.service.exports.prepare()
  const ready = await run.service.exports.wait(({ state, units_done, units, bytes }) =>
    run.out.progress(`${state}: ${units_done} of ${units} parts, ${megabytes(bytes)}`),
  )
  const part = partOf(ready)
  await load(run, ready, part)
  const entries = await checked(part)
  await rename(part, file)
  if (run.out.isJson) run.out.json({ file, ...ready, entries })
  else run.out.note(`${file}: ${megabytes(ready.bytes)}, ${entries} entries, every checksum right`)
}

export const importAll: Command = {
  name: 'import',
  summary: 'take over an archive that `bellwether export` made',
  usage: 'FILE.tar',
  flags: {
    withdraw: { type: 'boolean', words: 'withdraw the import that is not carried out yet, in place of beginning one' },
    state: { type: 'boolean', words: 'only say how far it is' },
  },
  examples: ['bellwether import everything.tar', 'bellwether import --state', 'bellwether import --withdraw'],
  more: `Everything in it becomes yours: conversations with their files, reports, portfolio, settings; what you have stays. Nothing changes before the
whole archive was found right. Broken off, the same command goes on where it was. Secrets are not in an archive: their names are told at the end.`,
  async run(run) {
    if (run.is('withdraw') || run.is('state')) return looked(run)
    none(run.args, 1)
    const file = requiredArgument(run.args, 0, 'the file')
    const size = await sizeOf(file)
    if (size === null || size === 'folder') throw new UsageError(`there is no file ${file}`)
    const { id } = await checkedAs(file, 'nothing was sent')
    const sent = await sentWhole(run, file, size)
    const done =
      sent.phase === 'done' ? sent : await run.service.imports.wait((standing) => run.out.progress(stageOf(standing)))
    // Another one of the same size was in progress already.
    if (done.archive_id !== id)
      throw new BellwetherError(
        'another_archive',
        `another archive was under way and is taken over now; give ${file} again`,
      )
    if (run.out.isJson) run.out.json(done)
    else for (const line of toldOfImport(done)) run.out.line(line)
    return EXIT.done
  },
}

async function looked(run: Run): Promise<number> {
  none(run.args, 0)
  const standing = await run.service.imports.state()
  if (run.is('withdraw')) await run.service.imports.withdraw()
  if (run.out.isJson) run.out.json(standing)
  else if (run.is('withdraw')) run.out.line('The import is withdrawn.')
  else if (standing === null) run.out.line('There is no import.')
  else if (standing.phase === 'done') for (const line of toldOfImport(standing)) run.out.line(line)
  else run.out.line(stageOf(standing))
  return EXIT.done
}

/** Sends the archive, or the missing part of it. The service checks with checksums whether it is the same archive. */
async function sentWhole(run: Run, file: string, size: number): Promise<ImportStanding> {
  const { imports } = run.service
  const before = await imports.state()
  const isOpen =
    before !== null && before.bytes === size && ['receiving', 'checking', 'importing'].includes(before.phase)
  const begun = isOpen ? before : await imports.begin(size)
  const source = await open(file, 'r')
  try {
    const read = async (from: number, to: number) => {
      const { buffer, bytesRead } = await source.read(new Uint8Array(to - from), 0, to - from, from)
      return buffer.subarray(0, bytesRead)
    }
    return await imports.send(begun, read, { onProgress: (standing) => run.out.progress(stageOf(standing)) })
  } finally {
    await source.close()
  }
}

function stageOf({ phase, received, bytes, entries_done, entries, problem }: ImportStanding): string {
  const far =
    phase === 'receiving' ? `${megabytes(received)} of ${megabytes(bytes)}` : `${entries_done} of ${entries} entries`
  return `${phase}: ${far}${problem === null ? '' : `; ${cleanLine(problem)}`}`
}

function toldOfImport({ conversations, events, files, rows, left_out, renamed, secrets }: ImportStanding): string[] {
  const sum = Object.values(rows).reduce((total, n) => total + n, 0)
  return [
    `Taken over: ${conversations} conversations with ${events} events, ${files} files, ${sum} rows.`,
    ...renamed.map(({ from, to }) => `The conversation ${cleanLine(from)} is ${cleanLine(to)} here.`),
    ...Object.entries(left_out).map(([table, n]) => `Not taken: ${n} rows of ${cleanLine(table)}.`),
    ...secrets.map(({ kind, name }) => `To be given again: ${kind} ${cleanLine(name)}.`),
  ]
}

async function load(run: Run, ready: ExportStanding, part: string): Promise<void> {
  const target = await open(part, 'a', 0o600)
  try {
    let at = (await target.stat()).size
    for await (const chunk of run.service.exports.read(ready, at)) {
      await target.write(chunk)
      at += chunk.byteLength
      run.out.progress(`${megabytes(at)} of ${megabytes(ready.bytes)}`)
    }
    await target.sync()
  } finally {
    await target.close()
  }
}

const BLOCK = 512

/** Compares every entry with the checksum in the manifest; returns their number. A corrupt file is deleted. */
async function checked(file: string): Promise<number> {
  try {
    return (await checkedAs(file, 'it was deleted, export it again')).entries
  } catch (error) {
    if (error instanceof BellwetherError) await rm(file)
    throw error
  }
}

type Listed = { path: string; sha256: string }
type Manifest = { id: string; lists: Listed[] }

/** The id of the archive, and its number of entries. */
async function checkedAs(file: string, advice: string): Promise<{ id: string; entries: number }> {
  const damagedAt = (where: string) =>
    new BellwetherError('damaged_export', `the archive is damaged at ${cleanLine(where)}; ${advice}`)
  const found = new Map<string, string>()
  const listed: Listed[] = []
  let manifest: Manifest | null = null
  for await (const { path, sha256, text } of entriesOf(file)) {
    found.set(path, sha256)
    const values = path.startsWith('manifest') ? objectsOf(text()) : []
    if (values === null) throw damagedAt(path)
    if (path.startsWith('manifest/')) listed.push(...(values as Listed[]))
    if (path === 'manifest.json') manifest = values[0] as Manifest
  }
  const { id, lists } = manifest ?? {}
  if (id === undefined || !Array.isArray(lists)) throw damagedAt('its manifest')
  const wrong = [...listed, ...lists].find(({ path, sha256 }) => found.get(path) !== sha256)
  if (wrong !== undefined) throw damagedAt(wrong.path)
  if (found.size !== listed.length + lists.length + 1) throw damagedAt('its manifest')
  return { id, entries: found.size }
}

/** The objects of an entry, one per line; null if a line is invalid. */
function objectsOf(text: string): object[] | null {
  try {
    const values: unknown[] = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
    return values.every((value) => typeof value === 'object' && value !== null) ? (values as object[]) : null
  } catch {
    return null
  }
}

type Entry = { path: string; sha256: string; text: () => string }

/** The entries of the archive, read as a stream. */
async function* entriesOf(file: string): AsyncGenerator<Entry> {
  const source = new Source(createReadStream(file))
  for (;;) {
    const header = await source.take(BLOCK)
    if (header.length < BLOCK || header.every((byte) => byte === 0)) return
    const textAt = (from: number, length: number) => header.toString('utf8', from, from + length).replace(/\0.*$/s, '')
    const prefix = textAt(345, 155)
    const path = prefix === '' ? textAt(0, 100) : `${prefix}/${textAt(0, 100)}`
    const size = Number.parseInt(textAt(124, 12), 8)
    // Without a header it is not an archive: the manifest will be missing.
    if (textAt(257, 5) !== 'ustar' || Number.isNaN(size)) return
    const hash = createHash('sha256')
    const kept: Buffer[] = []
    for (let left = size; left > 0; ) {
      const bytes = await source.take(Math.min(left, 1_048_576))
      if (bytes.length === 0) return
      hash.update(bytes)
      if (path.startsWith('manifest')) kept.push(bytes)
      left -= bytes.length
    }
    await source.take((BLOCK - (size % BLOCK)) % BLOCK)
    yield { path, sha256: hash.digest('hex'), text: () => Buffer.concat(kept).toString('utf8') }
  }
}

/** Reads the given number of bytes from chunks of any size; fewer at the end. */
class Source {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  async take(count: number): Promise<Buffer> {
    while (this.#rest.length < count) {
      const { done, value } = await this.#chunks.next()
      if (done) break
      this.#rest = Buffer.concat([this.#rest, value])
    }
    const taken = this.#rest.subarray(0, count)
    this.#rest = this.#rest.subarray(taken.length)
    return taken
  }
}

async function sizeOf(file: string): Promise<number | 'folder' | null> {
  try {
    const found = await stat(file)
    return found.isDirectory() ? 'folder' : found.size
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`
