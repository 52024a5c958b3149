// The command line as a person starts it, and a service for it.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Service, startService } from '../../../scripts/start/service.ts'
import { VARIABLES } from '../../../src/config.ts'
import { Bellwether } from '../../src/index.ts'

/** What Node made of the sources at the first call. */
const CACHE = join(tmpdir(), 'bellwether-client-compiled')

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')
export const ROOT_KEY = 'root-key-for-tests-0123456789abcdef'
/** What the person who runs the tests has set must not decide them. */
const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'bellwether-client-'))
}

export type Ended = { code: number | null; stdout: string; stderr: string }
type Started = {
  env?: Record<string, string | undefined>
  input?: string
  cwd?: string
  /** Ctrl-C whenever something like this is printed. */
  interruptAt?: RegExp
}

export async function cli(
  args: readonly string[],
  { env = {}, input, cwd, interruptAt }: Started = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    // No terminal, no configuration of the person's own.
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: CACHE,
      BELLWETHER_CONFIG: '/nonexistent/config.json',
      BELLWETHER_URL: '',
      BELLWETHER_KEY: '',
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => interruptAt?.test(String(chunk)) && child.kill('SIGINT'))
  }
  child.stdin.end(input ?? '')
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, stdout, stderr }
}

export type Owner = {
  url: string
  key: string
  client: Bellwether
  cli(args: readonly string[], more?: Started): Promise<Ended>
}
export type Running = { service: Service; owner(name: string, url?: string): Promise<Owner>; stop(): Promise<void> }

/** A service that asks for keys; each test has an owner of its own. */
export async function startKeyed(): Promise<Running> {
  const stateDir = temporaryFolder()
  const env = {
    ...CLEAN,
    AUTH_MODE: 'keys',
    ROOT_API_KEY: ROOT_KEY,
    SECRETS_KEY: 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
    MARKET_DATA: 'sample',
    ALLOW_PRIVATE_NETWORK: '127.0.0.1',
  }
  const service = await startService({ stateDir, env })
  const root = new Bellwether({ url: service.url, key: ROOT_KEY })
  return {
    service,
    owner: async (name, url = service.url) => {
      const { key } = await root.call('POST /api/keys', {
        body: { owner: name, name: 'test', scopes: ['conversations', 'analysis'] },
      })
      const own = { BELLWETHER_URL: url, BELLWETHER_KEY: key }
      return {
        url,
        key,
        client: new Bellwether({ url, key }),
        cli: (args, more = {}) => cli(args, { ...more, env: { ...own, ...more.env } }),
      }
    },
    stop: async () => {
      await service.stop()
      rmSync(stateDir, { recursive: true })
    },
  }
}
