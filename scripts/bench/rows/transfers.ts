// P13: the workspace as a ZIP, against the `zip` of the command line over the same files; and files that go up, against a
// copy of them. What either costs in memory is seen at the runtime's process, which holds the local R2 and SQLite as well.

import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { ROOT } from '../../start/paths.ts'
import type { DownloadJob, Transfer } from '../client/transfers.ts'
import type { CommandLineCalls } from '../command-line.ts'
import { startConversation } from '../conversation.ts'
import type { Measurement, Sample } from '../rounds.ts'
import type { Stage, WorkerSide } from '../stage.ts'
import { peakRssWhile } from '../usage.ts'

const FILES = 2_000
const FILE_BYTES = 4_250
/** A request takes at most 1,000 files and 64 MiB. */
const FILES_PER_UPLOAD = 1_000
const LARGE_FILE_BYTES = 50_000
const LARGE_UPLOADS = 4
/** Source code, as a workspace holds it. */
const SOURCES = ['hono/dist', 'zod/v4/core', 'zod/v4/classic'].map((folder) => join(ROOT, 'node_modules', folder))

export async function zipDownload(stage: Stage): Promise<Measurement[]> {
  const { client } = stage
  const side = await stage.startWorker({ vars: UNLIMITED })
  const commandLine = stage.startProgram<CommandLineCalls>('command-line.ts')
  const files = sources()
  const all = folderOf(files)
  const halves = [files.slice(0, FILES / 2), files.slice(FILES / 2)].map(folderOf)
  const zipOf = (path: string) => client.call('download', transfer(side, path, 'zip-directory'))
  const conversation = await filled(stage, side, halves)
  const zip = () => zipOf(conversation)
  const timed = (done: () => Promise<Transfer>) =>
    stage.measured(side, async () => ({ ...(await timeOf(done())), requests: 1 }))
  const theirs = async () => plain((await commandLine.call('zip', { folder: all })).totalMs)
  const row = 'P13'
  const what = `ZIP of ${FILES} files, ${megabytes(FILES * FILE_BYTES)}`
  const first = async () => {
    const path = await filled(stage, side, halves)
    return timed(() => zipOf(path))
  }
  return [
    { ...{ row, what: `${what}, for the first time`, unit: 'ms' }, ours: first, baseline: theirs },
    // The round before the measured ones is the first download of this workspace.
    { ...{ row, what: `${what}, again`, unit: 'ms' }, ours: () => timed(zip), baseline: theirs },
    {
      ...{ row, what: `${what}: its size`, unit: 'MiB' },
      ours: async () => plain(mebibytes((await zip()).sizeBytes)),
      baseline: async () => plain(mebibytes((await commandLine.call('zip', { folder: all })).sizeBytes)),
    },
    {
      ...{ row, what: `${what}: its first byte`, unit: 'ms', isErratic: true },
      ours: async () => plain((await zip()).firstByteMs),
      baseline: async () => plain((await commandLine.call('zipBegins', { folder: all })).firstByteMs),
    },
    largeDownload(stage),
  ]
}

/** A conversation with the files of the folders. */
async function filled({ client }: Stage, side: WorkerSide, folders: readonly string[]): Promise<string> {
  const { path } = await startConversation({ worker: side })
  for (const folder of folders) await client.call('upload', { ...transfer(side, path, 'upload-files'), folder })
  return path
}

/** Each slice has a server of its own: one that has grown does not shrink again. */
function largeDownload(stage: Stage): Measurement {
  const count = LARGE_UPLOADS * FILES_PER_UPLOAD
  return {
    row: 'P13',
    what: `growth while ${megabytes(count * LARGE_FILE_BYTES)} in ${count} files come down, and while a listing does`,
    ...{ unit: 'MiB', isErratic: true },
    ours: () => growth(stage, { uploads: LARGE_UPLOADS, path: 'zip-directory' }),
    baseline: () => growth(stage, { uploads: LARGE_UPLOADS, path: 'list-files' }),
  }
}

export async function uploads(stage: Stage): Promise<Measurement[]> {
  const side = await stage.startWorker({ vars: UNLIMITED })
  const commandLine = stage.startProgram<CommandLineCalls>('command-line.ts')
  const folder = noiseFolder()
  const row = 'upload'
  const what = `${FILES_PER_UPLOAD} files, ${megabytes(FILES_PER_UPLOAD * LARGE_FILE_BYTES)}`
  return [
    {
      ...{ row, what: `${what} go up, and are copied`, unit: 'ms' },
      ours: async () => {
        const { path } = await startConversation({ worker: side })
        const job = { ...transfer(side, path, 'upload-files'), folder }
        return stage.measured(side, async () => ({
          ...(await timeOf(stage.client.call('upload', job))),
          requests: FILES_PER_UPLOAD,
        }))
      },
      baseline: async () => plain((await commandLine.call('copy', { folder })).totalMs),
    },
    {
      ...{ row, what: `growth while ${what} go up, and while a listing comes down`, unit: 'MiB' },
      ...{ isErratic: true },
      ours: () => growth(stage, { uploads: 0, path: 'upload-files' }),
      baseline: () => growth(stage, { uploads: 0, path: 'list-files' }),
    },
  ]
}

const UNLIMITED = { RATE_LIMIT_UPLOADS: '999999999/1' }

async function growth(stage: Stage, { uploads, path }: { uploads: number; path: string }): Promise<Sample> {
  const { client } = stage
  const side = await stage.startWorker({ vars: UNLIMITED })
  try {
    const { path: conversation } = await startConversation({ worker: side })
    const job = transfer(side, conversation, 'upload-files')
    for (let i = 0; i < uploads; i++) await client.call('upload', { ...job, folder: noiseFolder() })
    const folder = path === 'upload-files' ? noiseFolder() : null
    const { startMiB, peakMiB } = await peakRssWhile(side.runtime, () =>
      folder === null
        ? client.call('download', transfer(side, conversation, path))
        : client.call('upload', { ...job, folder }),
    )
    return plain(peakMiB - startMiB)
  } finally {
    await side.stop()
  }
}

function transfer(side: WorkerSide, conversation: string, call: string): DownloadJob {
  return { port: side.port, key: side.key, path: `${conversation}/${call}` }
}

/** So many pieces of real code, each a file. */
function sources(): Buffer[] {
  const code = Buffer.concat(SOURCES.flatMap(filesBelow).map((file) => readFileSync(file)))
  return Array.from({ length: FILES }, (_, i) => {
    const from = (i * FILE_BYTES) % (code.length - FILE_BYTES)
    return code.subarray(from, from + FILE_BYTES)
  })
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(js|ts)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

let folders: string | null = null

/** Files in a new folder, which goes with this process. */
function folderOf(files: readonly Buffer[]): string {
  if (folders === null) {
    const made = mkdtempSync(join(tmpdir(), 'bellwether-files-'))
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    folders = made
  }
  const folder = mkdtempSync(join(folders, 'of-'))
  for (const [i, content] of files.entries()) writeFileSync(join(folder, `${basename(folder)}-${i}.ts`), content)
  return folder
}

/** What cannot be made smaller, under names that no other such folder has. */
const noiseFolder = (): string =>
  folderOf(Array.from({ length: FILES_PER_UPLOAD }, () => randomBytes(LARGE_FILE_BYTES)))

async function timeOf(done: Promise<Transfer>): Promise<{ value: number; clientCpu: number }> {
  const { totalMs, clientCpu } = await done
  return { value: totalMs, clientCpu }
}

const plain = (value: number): Sample => ({ value, clientCpu: null, serverMicros: null, waited: null })
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
const mebibytes = (bytes: number): number => bytes / 1024 / 1024
