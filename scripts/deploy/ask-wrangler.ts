// Queries an account with wrangler. Each call has a timeout; an output that cannot be parsed is reported as such, never
// taken for a yes or a no.

import { spawn } from 'node:child_process'
import { z } from 'zod'
import { ROOT } from '../start/paths.ts'
import { signalIfThere } from '../start/processes.ts'

export type Answer<T> = { ok: true; value: T } | { ok: false; why: string }

const ANSWER_MS = 30_000

const Identity = z.object({ loggedIn: z.boolean() })
const Secrets = z.array(z.object({ name: z.string() }))
const Databases = z.array(z.object({ uuid: z.string(), name: z.string() }))

type WranglerTarget = { config: string; environment: string | undefined; env?: NodeJS.ProcessEnv; answerMs?: number }

export class Wrangler {
  readonly #place: WranglerTarget

  constructor(place: WranglerTarget) {
    this.#place = place
  }

  /** A command with the file and the environment that are meant. The plain one is named, or wrangler warns of the others. */
  words(command: readonly string[]): string[] {
    const { config, environment } = this.#place
    return [...command, '--config', config, `--env=${environment ?? ''}`]
  }

  async isSignedIn(): Promise<Answer<boolean>> {
    const said = await this.#ask(['whoami', '--json'])
    // Without an account wrangler fails, but its output has the same form.
    const identity = parsed(said, Identity)
    return identity === null ? { ok: false, why: wordsOf(said) } : { ok: true, value: identity.loggedIn }
  }

  /** Null: there is no such Worker yet. */
  async secrets(): Promise<Answer<string[] | null>> {
    const said = await this.#ask(this.words(['secret', 'list', '--format', 'json']))
    const secrets = said.code === 0 ? parsed(said, Secrets) : null
    if (secrets !== null) return { ok: true, value: secrets.map(({ name }) => name) }
    if (/Worker ".*" not found/.test(said.output)) return { ok: true, value: null }
    return { ok: false, why: wordsOf(said) }
  }

  async databases(): Promise<Answer<{ uuid: string; name: string }[]>> {
    const said = await this.#ask(this.words(['d1', 'list', '--json']))
    const databases = said.code === 0 ? parsed(said, Databases) : null
    return databases === null ? { ok: false, why: wordsOf(said) } : { ok: true, value: databases }
  }

  async buckets(): Promise<Answer<string[]>> {
    const said = await this.#ask(['r2', 'bucket', 'list'])
    if (said.code !== 0 || !/Listing buckets/.test(said.output)) return { ok: false, why: wordsOf(said) }
    return { ok: true, value: [...said.output.matchAll(/^name:\s+(\S+)/gm)].map(([, name = '']) => name) }
  }

  /** The files that the remote database lacks. */
  async openMigrations(): Promise<Answer<string[]>> {
    const said = await this.#ask(this.words(['d1', 'migrations', 'list', 'DB', '--remote']))
    const names = [...said.output.matchAll(/\b\d{4}_\w+\.sql\b/g)].map(([name]) => name)
    const isAnswer = said.code === 0 && (names.length > 0 || /No migrations to apply/.test(said.output))
    return isAnswer ? { ok: true, value: [...new Set(names)] } : { ok: false, why: wordsOf(said) }
  }

  #ask(words: readonly string[]): Promise<WranglerOutput> {
    // No prompts and no banners.
    const { env: given = process.env, answerMs = ANSWER_MS } = this.#place
    const env = { ...given, CI: '1', NO_COLOR: '1', WRANGLER_SEND_METRICS: 'false' }
    const child = spawn('wrangler', words, { cwd: ROOT, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const pieces: { out: string; all: string } = { out: '', all: '' }
    child.stdout.on('data', (chunk: Buffer) => {
      pieces.out += chunk
      pieces.all += chunk
    })
    child.stderr.on('data', (chunk: Buffer) => {
      pieces.all += chunk
    })
    return new Promise((resolve) => {
      const end = (said: Omit<WranglerOutput, 'stdout' | 'output'> & { more?: string }) => {
        clearTimeout(timer)
        resolve({ code: said.code, stdout: pieces.out, output: `${pieces.all}${said.more ?? ''}` })
      }
      const timer = setTimeout(() => {
        if (child.pid !== undefined) signalIfThere(-child.pid, 'SIGKILL')
        end({ code: null, more: `no answer within ${answerMs / 1000} s` })
      }, answerMs)
      child.once('error', (error) => end({ code: null, more: error.message }))
      child.once('close', (code) => end({ code }))
    })
  }
}

type WranglerOutput = { code: number | null; stdout: string; output: string }

/** Null where the output is not of this form. Lines that are none of it may stand before it. */
function parsed<T>({ stdout, output }: WranglerOutput, schema: z.ZodType<T>): T | null {
  for (const text of [stdout, output]) {
    const [json] = /[[{][\s\S]*[\]}]/.exec(text) ?? []
    try {
      const result = schema.safeParse(JSON.parse(json ?? ''))
      if (result.success) return result.data
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
  }
  return null
}

const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g')

/** The most useful line: wrangler's error line, else the last one. */
function wordsOf({ output }: WranglerOutput): string {
  const lines = output
    .replaceAll(ESCAPES, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const line = lines.find((one) => /\[ERROR\]/.test(one)) ?? lines.at(-1) ?? 'it printed nothing'
  return line.replace(/^\W*\[ERROR\]\s*/, '').slice(0, 300)
}
