// Runs the commands of the differential test in our shell on the durable file tree. A fixture is written once;
// before each command its rows are restored.

import { env } from 'cloudflare:workers'
import { inject } from 'vitest'
import type { WorkspaceStore } from '../../durable-objects/conversation/workspace/store.ts'
import { gitCommand } from '../../src/kits/git/index.ts'
import { nodeCommands, ownIsolates } from '../../src/kits/node-program/index.ts'
import { runScript, workspaceCommands } from '../../src/kits/shell/index.ts'
import { STRANGER } from '../../src/lib/address-policy.ts'
import {
  COMMAND_TIMEOUT_MS,
  type CorpusEntry,
  type FixtureEntry,
  type RealAnswer,
  SHELL_ENV,
} from '../support/real-shell-types.ts'
import { summaryOf, type TreeReader } from '../support/shell-tree.ts'
import { openStore } from '../unit/workspace/open-store.ts'
import { CLOSED } from './policies.ts'
import type { OurReport } from './shell-verdict.ts'

const ROOT = '/workspace'
const OUTPUT_CHARS = 4_000_000
const TABLES = ['nodes', 'chunks', 'garbage'].map((name) => `workspace_${name}`)

export const entriesOf = (theme: string): Promise<CorpusEntry[]> => ask(`entries/${theme}`)
export const realAnswers = (theme: string): Promise<RealAnswer[]> => ask(`answers/${theme}`)

export async function keepDetails(table: string, details: unknown): Promise<void> {
  await ask('details', { method: 'POST', body: JSON.stringify({ table, details }) })
}

/** Separates an entry from its run. */
type RunWrapper = (entry: CorpusEntry, run: () => Promise<OurReport>) => Promise<OurReport>

/** In the order of the entries. */
export async function ourReports(
  entries: readonly CorpusEntry[],
  around: RunWrapper = (_entry, run) => run(),
): Promise<OurReport[]> {
  const reports = new Map<string, OurReport>()
  for (const fixture of new Set(entries.map((entry) => entry.fixture))) {
    const files = await ask<FixtureEntry[]>(`fixture/${fixture}`)
    const { use } = openStore(`corpus-${fixture}`)
    await use(async (store, storage) => {
      await fill(store, files)
      keepRows(storage)
    })
    for (const entry of entries.filter((one) => one.fixture === fixture)) {
      reports.set(
        entry.id,
        await use(async (store, storage) => {
          putRowsBack(storage)
          return around(entry, () => report(store, entry.script))
        }),
      )
    }
  }
  return entries.flatMap(({ id }) => reports.get(id) ?? [])
}

async function report(store: WorkspaceStore, script: string): Promise<OurReport> {
  const commands = [
    gitCommand({ policy: CLOSED, chosenBy: STRANGER }),
    ...workspaceCommands({ network: { policy: CLOSED } }),
    ...nodeCommands({ programs: ownIsolates(env.LOADER) }),
  ]
  const limits = { timeoutMs: COMMAND_TIMEOUT_MS, maxOutputChars: OUTPUT_CHARS }
  const run = { fs: store, script, cwd: ROOT, env: { ...SHELL_ENV }, commands, limits }
  const { output, exitCode } = await runScript(run)
  return { output, exitCode, tree: await summaryOf(readerOf(store), ROOT) }
}

function readerOf(store: WorkspaceStore): TreeReader {
  return {
    list: async (path) =>
      store.list(path).map(({ name, kind }) => {
        const executable = kind === 'file' && (store.lstat(`${path}/${name}`).mode & 0o100) !== 0
        return { name, kind, executable }
      }),
    read: (path) => store.read(path),
    readLink: async (path) => store.readLink(path),
  }
}

async function fill(store: WorkspaceStore, files: readonly FixtureEntry[]): Promise<void> {
  for (const entry of files) {
    const path = `${ROOT}/${entry.path}`
    if (entry.kind === 'directory') store.makeDirectory(path)
    else if (entry.kind === 'symlink') store.symlink(entry.target, path)
    else await store.write(path, fromBase64(entry.base64), { mode: entry.executable ? 0o755 : 0o644 })
  }
  // What is written into a folder touches it.
  for (const { kind, path, mtimeMs } of files) if (kind !== 'symlink') store.utimes(`${ROOT}/${path}`, mtimeMs)
}

function keepRows({ sql }: DurableObjectStorage): void {
  for (const table of TABLES) sql.exec(`CREATE TABLE kept_${table} AS SELECT * FROM ${table}`)
}

function putRowsBack(storage: DurableObjectStorage): void {
  storage.transactionSync(() => {
    for (const table of TABLES) {
      storage.sql.exec(`DELETE FROM ${table}`)
      storage.sql.exec(`INSERT INTO ${table} SELECT * FROM kept_${table}`)
    }
  })
}

async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await fetch(`${inject('realShell').url}/${path}`, init)
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
