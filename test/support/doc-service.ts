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

/** Variables of the developer's environment must not affect the tests. */
const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))
const START_TIMEOUT_MS = 120_000

/** Every response ends with a line end, and its status goes to standard error. A status of 400 or more ends the block. */
const CURL = `curl() { command curl --fail-with-body -w '\\n%{stderr}status %{http_code}\\n' "$@"; }`

export type BlockResult = {
  readonly exitCode: number | null
  /** The JSON documents that the block printed, one a line. */
  readonly answers: readonly unknown[]
  readonly statuses: readonly number[]
  readonly stderr: string
}

/** External services that a document names, and their replacements in a test. */
export type ServiceAddresses = Readonly<Record<string, string>>

export type DocService = {
  readonly url: string
  /** What `npm start` printed on its standard output. */
  readonly printed: string
  run(block: string): Promise<BlockResult>
  /** Runs a long-running block until the service is stopped; settles when its output matches the pattern. */
  keepRunning(block: string, sign: RegExp): Promise<void>
  stop(): Promise<void>
}

/**
 * Runs the block that starts the service, with a port and a state folder of the test's own, and settles when it is ready. A
 * folder that the test names is kept when the service stops.
 */
export async function startAsWritten(
  block: string,
  elsewhere: ServiceAddresses = {},
  kept?: string,
): Promise<DocService> {
  const stateDir = kept ?? mkdtempSync(join(tmpdir(), 'bellwether-docs-'))
  const port = await freePort()
  const rootKey = 'root-key-of-the-documents-0123456789'
  const runnerDir = mkdtempSync(join(tmpdir(), 'bellwether-docs-runner-'))
  const env = {
    ...{ PORT: String(port), BELLWETHER_STATE: stateDir, BELLWETHER_RUNNER_WORKSPACES: runnerDir },
    ...{ MARKET_DATA: 'sample', ROOT_API_KEY: rootKey },
  }
  const child = shell(block, env)
  const printed = await readyLine(child)
  const url = `http://127.0.0.1:${port}`
  const children = [child]
  return {
    url,
    printed,
    run: (text) => runBlock(withAddresses(text, url, elsewhere), { ROOT_API_KEY: rootKey }),
    keepRunning: async (text, sign) => {
      const kept = shell(text, env)
      children.unshift(kept)
      await outputOf(kept, sign)
    },
    stop: async () => {
      for (const one of children) await endOf(one)
      for (const folder of [kept === undefined ? stateDir : '', runnerDir].filter(Boolean))
        rmSync(folder, { recursive: true })
    },
  }
}

async function endOf(child: ReturnType<typeof shell>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = new Promise((resolve) => child.once('close', resolve))
  signalIfThere(-(child.pid ?? 0), 'SIGTERM')
  await closed
}

/** Placeholder addresses in documents for the reader's service, and for others. */
function withAddresses(block: string, url: string, elsewhere: ServiceAddresses): string {
  const own = block.replaceAll(/https:\/\/<your worker>|(?<![\w.])(?:127\.0\.0\.1|localhost):8787/g, url)
  return Object.entries(elsewhere).reduce((text, [there, here]) => text.replaceAll(there, here), own)
}

function shell(script: string, env: Readonly<Record<string, string>>) {
  return spawn('bash', ['-e', '-o', 'pipefail', '-c', script], {
    cwd: ROOT,
    env: { ...process.env, ...CLEAN, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
}

const readyLine = (child: ReturnType<typeof shell>) => outputOf(child, /^ready .*$/m)

/** The first match in the program's output, as soon as it has been printed. */
function outputOf(child: ReturnType<typeof shell>, sign: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let [stdout, stderr] = ['', '']
    let isThere = false
    const fail = (why: string) => {
      signalIfThere(-(child.pid ?? 0), 'SIGTERM')
      reject(new Error(`It did not start: ${why}\n${stdout}${stderr}`))
    }
    const timer = setTimeout(() => fail(`no ${sign} within ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS)
    child.once('close', (code) => fail(`it ended with ${code}`))
    const look = () => {
      const found = isThere ? undefined : (sign.exec(stdout)?.[0] ?? sign.exec(stderr)?.[0])
      if (found === undefined) return
      isThere = true
      clearTimeout(timer)
      child.removeAllListeners('close')
      resolve(found)
    }
    child.stdout.on('data', (chunk) => {
      stdout += chunk
      look()
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
      look()
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
