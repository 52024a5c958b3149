// The host of the real shell, for tests that run in the Workers runtime: it provides the commands and the fixtures, runs them with
// the machine's own bash, coreutils and git, and stores the results of the comparison.
// `SHELL_CORPUS_DETAILS` names the file for that; `SHELL_CORPUS_ONLY` is a pattern that the ids of the entries must match. Without
// it a run takes the sample of each theme, and with `PROOF=1` all entries.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { alwaysRun } from './kit-sample/sample.ts'
import { RealShell } from './real-shell-run.ts'
import type { CorpusEntry, RealAnswer } from './real-shell-types.ts'
import { entriesOf, themes } from './shell-corpus.ts'
import { programsOf } from './shell-programs.ts'

/** The shell under test runs at the same time. */
const AT_ONCE = 2

const isProof = process.env.PROOF === '1'

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Short, because it replaces `/`.
  const folder = await mkdtemp(join(tmpdir(), 'bsh-'))
  const shell = new RealShell(folder)
  const underWay = new Set<Promise<void>>()
  const server = createServer((request, response) => {
    const served = serve(shell, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(String(error))
    })
    underWay.add(served)
    void served.finally(() => underWay.delete(served))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  project.provide('realShell', {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    themes: themes(),
    missing: await shell.missing(),
    isWhole: isProof && !process.env.SHELL_CORPUS_ONLY,
    requireAll: process.env.REQUIRE_ALL === '1',
  })
  return async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
    // A run that timed out may still write into the folder.
    await Promise.all(underWay)
    await rm(folder, { recursive: true, force: true })
  }
}

async function serve(shell: RealShell, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1')
  const [, what = '', name = ''] = pathname.split('/')
  const answer = (value: unknown) => response.end(JSON.stringify(value))
  if (what === 'entries') answer(chosen(name))
  else if (what === 'fixture') answer(await shell.fixture(name))
  else if (what === 'answers') answer(await answers(shell, chosen(name)))
  else if (what === 'details') answer(await keep(await bodyOf(request)))
  else response.writeHead(404).end()
}

function chosen(theme: string): CorpusEntry[] {
  const entries = programsOf(theme) ?? entriesOf(theme)
  const pattern = process.env.SHELL_CORPUS_ONLY
  if (pattern) return entries.filter(({ id }) => new RegExp(pattern).test(id))
  return isProof ? entries : alwaysRun('commands', theme, entries)
}

async function answers(shell: RealShell, entries: CorpusEntry[]): Promise<RealAnswer[]> {
  const found: RealAnswer[] = []
  const waiting = entries.map((entry, at) => ({ entry, at }))
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) found[next.at] = await shell.answer(next.entry)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return found
}

/** The table is progress output; the details are for correcting a difference. */
async function keep(text: string): Promise<{ kept: boolean }> {
  const { table, details } = JSON.parse(text) as { table: string; details: unknown }
  console.log(`\n${table}\n`)
  const path = process.env.SHELL_CORPUS_DETAILS
  if (!path) return { kept: false }
  await writeFile(path, `${JSON.stringify(details, null, 1)}\n`)
  return { kept: true }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}
