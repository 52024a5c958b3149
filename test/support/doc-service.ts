// A service for the commands of the documents: `npm start` as a document shows it, and a shell in which its blocks run.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { freePort } from '../../scripts/start/port.ts'
import { signalIfThere } from '../../scripts/start/processes.ts'
import { VARIABLES } from '../../src/config.ts'
import { ROOT } from './source-tree.ts'

/** What the person who runs the tests has set must not decide them. */
const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))
const START_TIMEOUT_MS = 120_000

/** Every answer is followed by a line end, and its status goes to the error output. A status of 400 or more ends the block. */
const CURL = `curl() { command curl --fail-with-body -w '\\n%{stderr}status %{http_code}\\n' "$@"; }`

export type BlockResult = {
  readonly exitCode: number | null
  /** The JSON documents that the block printed, one a line. */
  readonly answers: readonly unknown[]
  readonly statuses: readonly number[]
  readonly stderr: string
}

export type DocService = {
  readonly url: string
  /** What `npm start` printed on its standard output. */
  readonly printed: string
  run(block: string): Promise<BlockResult>
  stop(): Promise<void>
}

/** Runs the block that starts the service, with a port and a state folder of the test's own, and settles when it is ready. */
export async function startAsWritten(block: string): Promise<DocService> {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-docs-'))
  const port = await freePort()
  const rootKey = 'root-key-of-the-documents-0123456789'
  const env = { PORT: String(port), BELLWETHER_STATE: stateDir, MARKET_DATA: 'sample', ROOT_API_KEY: rootKey }
  const child = shell(block, env)
  const printed = await readyLine(child)
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    printed,
    run: (text) => runBlock(withAddress(text, url), { ROOT_API_KEY: rootKey }),
    stop: async () => {
      const closed = new Promise((resolve) => child.once('close', resolve))
      signalIfThere(-(child.pid ?? 0), 'SIGTERM')
      await closed
      rmSync(stateDir, { recursive: true })
    },
  }
}

/** The addresses that stand in documents for the service of the reader. */
function withAddress(block: string, url: string): string {
  return block.replaceAll(/https:\/\/<your worker>|(?<![\w.])(?:127\.0\.0\.1|localhost):8787/g, url)
}

function shell(script: string, env: Readonly<Record<string, string>>) {
  return spawn('bash', ['-e', '-o', 'pipefail', '-c', script], {
    cwd: ROOT,
    env: { ...process.env, ...CLEAN, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
}

function readyLine(child: ReturnType<typeof shell>): Promise<string> {
  return new Promise((resolve, reject) => {
    const output = { stdout: '', stderr: '' }
    const fail = (why: string) => {
      signalIfThere(-(child.pid ?? 0), 'SIGTERM')
      reject(new Error(`The service did not start: ${why}\n${output.stderr}`))
    }
    const timer = setTimeout(() => fail(`not ready within ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS)
    child.once('close', (code) => fail(`it ended with ${code}`))
    child.stderr.on('data', (chunk) => {
      output.stderr += chunk
    })
    child.stdout.on('data', (chunk) => {
      output.stdout += chunk
      const line = /^ready .*$/m.exec(output.stdout)?.[0]
      if (line === undefined) return
      clearTimeout(timer)
      child.removeAllListeners('close')
      resolve(line)
    })
  })
}

async function runBlock(block: string, env: Readonly<Record<string, string>>): Promise<BlockResult> {
  const child = shell(`${CURL}\n${block}`, env)
  const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), exitOf(child)])
  const answers = stdout.split('\n').filter((line) => line !== '')
  return {
    exitCode,
    answers: answers.map((line): unknown => JSON.parse(line)),
    statuses: [...stderr.matchAll(/^status (\d+)$/gm)].map(([, status]) => Number(status)),
    stderr,
  }
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('close', resolve))
}
