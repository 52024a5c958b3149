// A state folder in one small file: the folders of SQLite pages are much alike, so they are compressed together.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { unzipSync, zipSync } from 'fflate'

export const ARCHIVE = normalize(join(import.meta.dirname, '..', '..', 'fixtures', 'first-release', 'state.zip.br'))
export const ANSWERS = normalize(join(ARCHIVE, '..', 'answers.json.br'))

/** Files that belong to one start only, or that the service generates again. */
const NOT_KEPT = /^(start|programs|v3\/cache)(\/|$)|-(wal|shm)$/

export function packState(stateDir: string): void {
  const names = readdirSync(stateDir, { recursive: true, encoding: 'utf8' }).filter((name) => !NOT_KEPT.test(name))
  const files = names.filter((name) => statSync(join(stateDir, name)).isFile())
  for (const name of files) if (name.endsWith('.sqlite')) fold(join(stateDir, name))
  const contents = Object.fromEntries(files.map((name) => [name, new Uint8Array(readFileSync(join(stateDir, name)))]))
  write(ARCHIVE, zipSync(contents, { level: 0 }))
}

export function unpackState(stateDir: string): void {
  for (const [name, content] of Object.entries(unzipSync(brotliDecompressSync(readFileSync(ARCHIVE))))) {
    mkdirSync(dirname(join(stateDir, name)), { recursive: true })
    writeFileSync(join(stateDir, name), content)
  }
}

export function keepAnswers(answers: unknown): void {
  write(ANSWERS, Buffer.from(JSON.stringify(answers)))
}

export function keptAnswers(): Record<string, unknown> {
  return JSON.parse(brotliDecompressSync(readFileSync(ANSWERS)).toString('utf8')) as Record<string, unknown>
}

/** Merges the write-ahead log of a database into it. */
function fold(file: string): void {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

function write(file: string, content: Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true })
  const params = {
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  }
  writeFileSync(file, brotliCompressSync(content, { params }))
}
