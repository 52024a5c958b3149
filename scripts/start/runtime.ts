import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HostJob, HostNews } from './host.ts'
import { DIE_WITH_PARENT, ROOT } from './paths.ts'
import { listProcesses, signalIfThere } from './processes.ts'
import { withoutSteering } from './steering.ts'
import { runtimeBelow, type Usage, usageOf } from './usage.ts'

const TERM_PATIENCE_MS = 3_000
const KILL_PATIENCE_MS = 1_000
const CHECK_EVERY_MS = 20

const HOST_PROGRAM = join(ROOT, 'scripts', 'start', 'host.mjs')

/** The process that hosts the runtime, with all its child processes. */
export type Runtime = {
  /** Settles with the reason when the group's leader has exited, even if other processes of the group remain. */
  readonly exited: Promise<string>
  /** The CPU time of the runtime; null if there is none or the system does not provide it. */
  usage(): Usage | null
  /** Kills the process group at once, and settles when all its processes are gone. */
  kill(): Promise<void>
  /** Asks the process group to end, kills it after a while, and settles when all its processes are gone. */
  stop(): Promise<void>
}

/** A started host that waits for its job. */
export type Host = Runtime & {
  /** `onServing` is called at the first start, and again for every runtime that replaces one that died. */
  serve(job: HostJob, onServing: (port: number) => void): void
}

/**
 * Starts the host in a process group of its own, so that a Ctrl-C reaches us alone and one signal reaches all that it
 * started, and without standard input, so that nothing can prompt. Its output goes to standard error.
 */
export function startHost(): Host {
  const child = spawn(process.execPath, ['--no-warnings', '--import', DIE_WITH_PARENT, HOST_PROGRAM], {
    cwd: ROOT,
    env: { ...withoutSteering(process.env), BELLWETHER_SUPERVISOR: String(process.pid) },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => process.stderr.write(text))
  }
  let failure: string | null = null
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => {
      resolve(failure ?? (signal === null ? `ended with ${code}` : `was killed by ${signal}`))
    })
  })
  return {
    serve(job, onServing) {
      child.on('message', (news: HostNews) => {
        if (news.kind === 'serving') onServing(news.port)
        else failure = `failed: ${news.message}`
      })
      child.send(job)
    },
    exited,
    usage() {
      const pid = child.pid === undefined ? null : runtimeBelow(child.pid)
      return pid === null ? null : usageOf(pid)
    },
    ...endsOf(child.pid),
  }
}

/** How the process group of a leader that was started ends. */
function endsOf(leader: number | undefined): Pick<Runtime, 'kill' | 'stop'> {
  const signalGroup = (signal: NodeJS.Signals | 0) => leader !== undefined && signalIfThere(-leader, signal)
  const isGone = async (patienceMs: number) => {
    const deadline = Date.now() + patienceMs
    // Zombies stay in their group until they are reaped, which may take an init process a second.
    while (signalGroup(0) && listProcesses().some(({ group }) => group === leader)) {
      if (Date.now() > deadline) return false
      await sleep(CHECK_EVERY_MS)
    }
    return true
  }
  const kill = async () => {
    signalGroup('SIGKILL')
    await isGone(KILL_PATIENCE_MS)
  }
  return {
    kill,
    async stop() {
      signalGroup('SIGTERM')
      if (!(await isGone(TERM_PATIENCE_MS))) await kill()
    },
  }
}
