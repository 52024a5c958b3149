// `npm run load -- --fairness`: one owner attacks while another one works. The other owner's latencies during each attack are printed
// beside those of the same work without an attack.

import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { VARIABLES } from '../../src/config.ts'
import { Fault } from '../start/fault.ts'
import { startService } from '../start/service.ts'
import type { Struck, Target } from './attacker-of-owner.ts'
import { ATTACKS, type AttackName } from './attacks.ts'

/** The maximum ratio of the 99th percentile with and without an attack. */
const MOST_TIMES = 3
/** Smaller differences are ignored. */
const NOTICED_MS = 20
/** Rounds per attack. */
const ROUNDS = 3
const PAUSE_MS = 20
const REST_MS = 4_000
const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))

type Figures = { p50: number; p99: number; count: number; failed: string[] }
type Key = { key: string }

/** Throws a `Fault` that names the attacks when the pattern names none of them. */
function attacksNamed(only: string | null): AttackName[] {
  const all = Object.keys(ATTACKS) as AttackName[]
  const named = all.filter((name) => only === null || new RegExp(only).test(name))
  if (named.length === 0) throw new Fault(`--only: "${only}" names no attack. Attacks: ${all.join('; ')}`)
  return named
}

export async function fairness({ seconds, only }: { seconds: number; only: string | null }): Promise<boolean> {
  const names = attacksNamed(only)
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-fairness-'))
  const rootKey = randomBytes(24).toString('hex')
  const keys = { ROOT_API_KEY: rootKey, SECRETS_KEY: randomBytes(32).toString('base64') }
  const env = { ...CLEAN, ...keys, AUTH_MODE: 'keys', MARKET_DATA: 'sample', LOG_LEVEL: 'error' }
  const service = await startService({ stateDir, env })
  try {
    const keyOf = (owner: string) => keyFor({ url: service.url, rootKey }, owner)
    const victim = await Victim.open(service.url, await keyOf('victim'))
    await victim.work(seconds)
    console.log(
      `${'one owner attacks'.padEnd(22)}${'requests'.padStart(9)} refused   the other: alone p50/p99   beside it p50/p99   times`,
    )
    let isFair = true
    for (const name of names) {
      const attacker = `attacker-${name.replaceAll(/\W/g, '-')}`
      const runnerKey = await keyFor({ url: service.url, rootKey }, attacker, ['runner'])
      const target = { url: service.url, key: await keyOf(attacker), runnerKey, seconds }
      const rounds: AttackResult[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const alone = await victim.work(seconds)
        const [struck, beside] = await Promise.all([attack(name, target), sleep(500).then(() => victim.work(seconds))])
        rounds.push({ struck, alone, beside })
        await sleep(REST_MS)
      }
      isFair = tell(name, middleOf(rounds)) && isFair
    }
    console.log(`the runtime was started anew ${service.restarts} times`)
    return isFair && service.restarts === 0
  } finally {
    await service.stop()
    rmSync(stateDir, { recursive: true, force: true })
  }
}

type Root = { url: string; rootKey: string }

async function keyFor({ url, rootKey }: Root, owner: string, scopes = ['conversations', 'analysis']): Promise<string> {
  const response = await fetch(`${url}/api/keys`, {
    method: 'POST',
    headers: { 'x-session-api-key': rootKey, 'content-type': 'application/json' },
    body: JSON.stringify({ owner, name: 'fairness', scopes }),
  })
  if (response.status !== 201) throw new Error(`no key for ${owner}: ${response.status} ${await response.text()}`)
  return ((await response.json()) as Key).key
}

function attack(name: AttackName, target: Target): Promise<Struck> {
  const child = fork(join(import.meta.dirname, 'attacker.ts'))
  return new Promise((resolve, reject) => {
    child.once('message', (struck) => resolve(struck as Struck))
    child.once('exit', (code) => reject(new Error(`the attacker ended with ${code}`)))
    child.send({ name, target })
  })
}

type AttackResult = { struck: Struck; alone: Figures; beside: Figures }

/** The median round, with the failures of all rounds, so that a single delay of the machine does not count as an effect. */
function middleOf(rounds: readonly AttackResult[]): AttackResult {
  const sorted = rounds.toSorted((a, b) => timesOf(a) - timesOf(b))
  const middle = sorted[sorted.length >> 1] as AttackResult
  return { ...middle, beside: { ...middle.beside, failed: rounds.flatMap(({ beside }) => beside.failed) } }
}

const timesOf = ({ alone, beside }: AttackResult): number => beside.p99 / alone.p99

function tell(name: string, result: AttackResult): boolean {
  const { struck, alone, beside } = result
  const times = timesOf(result)
  const isFair = beside.failed.length === 0 && (times < MOST_TIMES || beside.p99 - alone.p99 < NOTICED_MS)
  const pair = ({ p50, p99 }: Figures) => `${p50.toFixed(1)} / ${p99.toFixed(1)} ms`.padStart(20)
  const counts = `${String(struck.sent).padStart(9)}${String(struck.refused).padStart(8)}`
  console.log(
    `${name.padEnd(22)}${counts}${pair(alone).padStart(26)}${pair(beside)}${times.toFixed(1).padStart(8)} ${isFair ? '' : 'TOO MUCH'}`,
  )
  for (const text of beside.failed.slice(0, 5)) console.log(`    failed: ${text}`)
  return isFair
}

/** A normal owner who reads, writes and lists, one request after the other. */
class Victim {
  readonly #url: string
  readonly #key: string
  readonly #path: string

  private constructor(url: string, key: string, path: string) {
    this.#url = url
    this.#key = key
    this.#path = path
  }

  static async open(url: string, key: string): Promise<Victim> {
    const response = await fetch(`${url}/api/conversations`, {
      method: 'POST',
      headers: { 'x-session-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ initial_user_msg: 'echo hello' }),
    })
    const { conversation_id: id } = (await response.json()) as { conversation_id: string }
    return new Victim(url, key, `/api/conversations/${id}`)
  }

  async work(seconds: number): Promise<Figures> {
    const all: number[] = []
    const failed: string[] = []
    const endsAt = performance.now() + seconds * 1000
    const message = { action: 'message', args: { content: 'true' } }
    const steps: readonly (readonly [string, object?])[] = [
      [`${this.#path}/events?reverse=true&limit=20`],
      [`${this.#path}/events`, message],
      ['/api/conversations?limit=20'],
      [`${this.#path}/list-files`],
      ['/api/v1/analysis/tasks?limit=20'],
      ['/api/v1/history?page=1&limit=20'],
    ]
    for (let at = 0; performance.now() < endsAt; at++) {
      const [path, json] = steps[at % steps.length] as readonly [string, object?]
      const startedAt = performance.now()
      const status = await this.#ask(path, json)
      all.push(performance.now() - startedAt)
      if (status !== '200') failed.push(`${path}: ${status}`)
      await sleep(PAUSE_MS)
    }
    const sorted = all.toSorted((a, b) => a - b)
    const part = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
    return { p50: part(0.5), p99: part(0.99), count: all.length, failed }
  }

  async #ask(path: string, json?: object): Promise<string> {
    try {
      const response = await fetch(`${this.#url}${path}`, {
        headers: {
          'x-session-api-key': this.#key,
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        },
        signal: AbortSignal.timeout(30_000),
        ...(json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) }),
      })
      await response.arrayBuffer()
      return String(response.status)
    } catch (error) {
      return String(error)
    }
  }
}
