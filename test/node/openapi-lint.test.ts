// What a stranger's tool makes of the document. Its rules and the exceptions stand in redocly.yaml.

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ROOT } from '../support/source-tree.ts'

// The document is made without the runtime: nothing is asked of it.
vi.mock('cloudflare:workers', () => ({ DurableObject: class {}, WorkerEntrypoint: class {}, env: {} }))
vi.mock('itty-durable', () => ({ proxyDurable: () => ({}) }))

const LINTER = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js')
const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' }

/** By a name that only the run knows: the Worker's own types are not those of this project. */
const APP = join(ROOT, 'src/app.ts')
type Served = { app: { request(path: string, init: object, env: object): Promise<Response> } }

type Problem = { ruleId: string; message: string; location: { pointer?: string }[] }

/** What the linter finds in a document: each problem with the place where it is. */
async function problemsOf(document: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'openapi-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'openapi.json')
  await writeFile(file, document)
  const args = [LINTER, 'lint', file, '--config', join(ROOT, 'redocly.yaml'), '--format=json', '--max-problems=1000']
  // It ends with 1 when it has found something, and says what on the same channel.
  const run = promisify(execFile)(process.execPath, args, { env: { ...process.env, ...QUIET } })
  const { stdout } = await run.catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }))
  const { problems } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as { problems: Problem[] }
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer ?? ''}: ${message}`)
}

test('a public linter finds nothing wrong with the document, and something with one that is wrong', async () => {
  const { app } = (await import(APP)) as Served
  const document = await (await app.request('/openapi.json', {}, { AUTH_MODE: 'local' })).text()
  const wrong = JSON.stringify({ openapi: '3.1.0', info: { title: 'w', version: '1' }, paths: {} })
  const [own, others] = await Promise.all([problemsOf(document), problemsOf(wrong)])
  expect(own).toEqual([])
  expect(others.length).toBeGreaterThan(0)
})
