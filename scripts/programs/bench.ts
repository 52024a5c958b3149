// Measures hostile programs under `npm start`: their effect on other conversations, and how late they end.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Conversation, startConversation } from '../bench/conversation.ts'
import { PinnedProcess } from '../bench/pinned-process.ts'
import { ROOT } from '../start/paths.ts'
import { type Service, startService } from '../start/service.ts'
import type { ClientCalls, Probes } from './bench-client.ts'
import { HOSTILE, type Hostile } from './hostile.ts'

const TIMEOUT_MS = 2000
const IDLE_MS = 15_000
const AT_A_TIME = 3
const SLICE_MS = 1000
const POLL_MS = 100

type Client = PinnedProcess<ClientCalls>
type Ended = { name: string; exitCode: number; pastMs: number; said: string }

/** Limits of the service that would end the measurement, and the time after which each program is to end. */
const VARIABLES = {
  SHELL_TIMEOUT_SECONDS: String(TIMEOUT_MS / 1000),
  MAX_RUNNING_LOOPS: String(AT_A_TIME + 1),
  RATE_LIMIT_READS: 'off',
  RATE_LIMIT_WRITES: 'off',
  RATE_LIMIT_STARTS: 'off',
}

export async function main(): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-programs-'))
  const service = await startService({ stateDir, env: VARIABLES })
  const client: Client = PinnedProcess.start(join(ROOT, 'scripts', 'programs', 'bench-client.ts'), null)
  try {
    await client.call('begin', { port: service.port })
    const before = await probeUntil(client, sleep(IDLE_MS))
    const ended: Ended[] = []
    const beside = await probeUntil(client, torment(service, ended))
    // What else the machine does changes meanwhile.
    const after = await probeUntil(client, sleep(IDLE_MS))
    print(ended)
    console.log()
    for (const what of ['program', 'request'] as const) {
      console.log(`a ${what}, alone:           ${summary([...before[what], ...after[what]])}`)
      console.log(`a ${what}, beside ${AT_A_TIME} of them: ${summary(beside[what])}`)
    }
  } finally {
    await client.stop()
    await service.stop()
    rmSync(stateDir, { recursive: true, force: true })
  }
}

async function probeUntil(client: Client, end: Promise<unknown>): Promise<Probes> {
  const taken: Probes = { program: [], request: [] }
  let isOver = false
  const over = end.finally(() => {
    isOver = true
  })
  while (!isOver) {
    const { program, request } = await Promise.race([
      client.call('probe', { durationMs: SLICE_MS }),
      // Whatever fails there is to be known here; an end is waited for with the slice that runs.
      over.then(() => new Promise<never>(() => {})),
    ])
    taken.program.push(...program)
    taken.request.push(...request)
  }
  await over
  return taken
}

/** Each of the conversations runs one program after the other, until all have run. */
async function torment({ port }: Service, ended: Ended[]): Promise<void> {
  const waiting = [...HOSTILE]
  const next = async (): Promise<void> => {
    const conversation = await startConversation({ worker: { port, key: '' } })
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) ended.push(await endOf(conversation, one))
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, next))
}

async function endOf(conversation: Conversation, { name, code }: Hostile): Promise<Ended> {
  const command = `cat > program.js <<'END_OF_PROGRAM'\n${code}\nEND_OF_PROGRAM\nnode program.js`
  const start = Date.now()
  await conversation.post('run', { command })
  for (;;) {
    const newest = JSON.parse(await conversation.newest()) as Newest
    if (newest.observation === 'run') {
      const said = newest.content.match(/^node: .*$/gm)?.at(-1) ?? newest.content.split('\n')[0] ?? ''
      const pastMs = Date.parse(newest.timestamp) - start - TIMEOUT_MS
      return { name, exitCode: newest.extras.metadata.exit_code, pastMs, said: said.slice(0, 70) }
    }
    await sleep(POLL_MS)
  }
}

type Newest = {
  observation?: string
  content: string
  timestamp: string
  extras: { metadata: { exit_code: number } }
}

function print(ended: readonly Ended[]): void {
  for (const { name, exitCode, pastMs, said } of ended) {
    const past = pastMs > 0 ? `${pastMs} ms past` : 'before its time'
    console.log(`${name.padEnd(36)} ${String(exitCode).padStart(3)}  ${past.padStart(16)}  ${said}`)
  }
  console.log(
    `\n${ended.length} programs, at most ${Math.max(...ended.map(({ pastMs }) => pastMs))} ms past their time`,
  )
}

function summary(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms (${values.length})`
}
