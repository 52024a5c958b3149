// This machine lent to a Worker of the benchmark: the runner as its users start it, a process of its own, and conversations whose
// commands run on it. In the sandbox where the machine has one.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../start/paths.ts'
import { SocketClient } from './client/socket-client.ts'
import { ask } from './conversation.ts'
import { plainTarget } from './rows/sockets.ts'
import type { Stage, WorkerSide } from './stage.ts'
import { OWNER } from './worker.ts'

const MAIN = join(ROOT, 'runner', 'src', 'main.ts')
const COMMAND_WITHIN_MS = 120_000

export const isolation = spawnSync('bwrap', ['--version']).status === 0 ? 'bwrap' : 'none'

export type Lent = { readonly worker: WorkerSide; readonly pid: number }

/** A Worker and a runner that is connected to it; the runner ends with the stage, and at the latest with this process. */
export async function lend(stage: Stage, capacity = 100): Promise<Lent> {
  const worker = await stage.startWorker({
    vars: { RATE_LIMIT_UPLOADS: '999999999/1', MAX_RUNNING_LOOPS: '1000' },
  })
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-bench-runner-'))
  const args = ['--url', `http://127.0.0.1:${worker.port}`, '--workspaces', folder]
  const child = spawn(process.execPath, [MAIN, ...args, '--isolation', isolation, '--capacity', String(capacity)], {
    env: { ...process.env, BELLWETHER_RUNNER_KEY: await runnerKey(worker) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const end = () => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', end)
  stage.endsWithIt({
    async stop() {
      const isGone = child.exitCode !== null || child.signalCode !== null
      if (!isGone && child.kill('SIGKILL')) await once(child, 'exit')
      end()
      process.off('exit', end)
    },
  })
  await connected(child)
  return { worker, pid: child.pid ?? 0 }
}

async function runnerKey(worker: WorkerSide): Promise<string> {
  const wanted = { owner: OWNER, name: 'runner', scopes: ['runner'] }
  return (JSON.parse(await ask({ ...worker, key: worker.rootKey }, '/api/keys', wanted)) as { key: string }).key
}

function connected(child: ChildProcess): Promise<void> {
  let log = ''
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the runner ended: ${log}`)))
    child.stderr?.on('data', (text) => {
      if (log.length < 100_000) log += String(text)
      if (log.includes('pool.connected')) resolve()
    })
  })
}

/** A conversation on the runner, with a client that follows it. */
export class LentConversation {
  readonly path: string
  readonly #worker: WorkerSide
  readonly #socket: SocketClient
  readonly #listeners: Set<(text: string) => void>

  private constructor(
    worker: WorkerSide,
    path: string,
    follower: { socket: SocketClient; listeners: Set<(text: string) => void> },
  ) {
    this.#worker = worker
    this.path = path
    this.#socket = follower.socket
    this.#listeners = follower.listeners
  }

  static async open({ worker }: Lent): Promise<LentConversation> {
    const made = JSON.parse(await ask(worker, '/api/conversations?runtime=runner', {})) as { conversation_id: string }
    return LentConversation.#follow(worker, `/api/conversations/${made.conversation_id}`)
  }

  /** Another conversation with the same files, which no runner has yet. */
  async fork(): Promise<LentConversation> {
    const page = JSON.parse(await ask(this.#worker, `${this.path}/events?reverse=true&limit=1`)) as {
      events: { id: number }[]
    }
    const id = randomBytes(8).toString('hex')
    await ask(this.#worker, `${this.path}/fork`, { event_id: page.events[0]?.id ?? 0, conversation_id: id })
    return LentConversation.#follow(this.#worker, `/api/conversations/${id}`)
  }

  static async #follow(worker: WorkerSide, path: string): Promise<LentConversation> {
    const listeners = new Set<(text: string) => void>()
    const socket = await SocketClient.open(plainTarget(worker, { path }), {
      text: (payload) => {
        const text = payload.toString()
        for (const listen of listeners) listen(text)
      },
    })
    return new LentConversation(worker, path, { socket, listeners })
  }

  /** From the request to the client's frame with the outcome. */
  async run(command: string): Promise<{ ms: number; output: string }> {
    const startedAt = performance.now()
    const output = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${command} did not end`)), COMMAND_WITHIN_MS)
      const listen = (text: string) => {
        const isOutcome = text.includes('"observation":"run"')
        if (!isOutcome && !text.includes('"observation":"error"')) return
        clearTimeout(timer)
        this.#listeners.delete(listen)
        if (isOutcome && text.includes('"exit_code":0')) resolve(text)
        else reject(new Error(`${command}: ${text.slice(0, 500)}`))
      }
      this.#listeners.add(listen)
      this.#socket.send([JSON.stringify({ action: 'run', args: { command } })])
    })
    return { ms: performance.now() - startedAt, output }
  }

  async upload(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const body = new FormData()
    body.append('files', new File([bytes], name))
    const answer = await fetch(`http://127.0.0.1:${this.#worker.port}${this.path}/upload-files`, {
      ...{ method: 'POST', body, headers: { 'x-session-api-key': this.#worker.key } },
    })
    if (!answer.ok) throw new Error(`${name} was not taken: ${answer.status} ${await answer.text()}`)
  }
}
