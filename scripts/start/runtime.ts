import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { ROOT } from './paths.ts'
import { listProcesses, signalIfThere } from './processes.ts'
import { forwardWanted } from './runtime-output.ts'

const TERM_PATIENCE_MS = 3_000
const KILL_PATIENCE_MS = 1_000
const CHECK_EVERY_MS = 20

/** One run of wrangler with everything that it started. */
export type Runtime = {
  /** Settles with the reason when its leading process is gone, whatever of the group is left. */
  readonly exited: Promise<string>
  /** Remembers which processes make up the group now. */
  noteMembers(): void
  /** Whether one of those has ended since. */
  hasLostMember(): boolean
  /** Ends the group at once, this very moment, and settles when nobody of it is left. */
  kill(): Promise<void>
  /** Asks the group to end, makes it end, and settles when nobody of it is left. */
  stop(): Promise<void>
}

type Launch = {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly write: (line: string) => void
}

/**
 * Starts Node in a process group of its own, so that a Ctrl-C reaches us alone and one signal reaches all that it started,
 * and without a standard input, so that nothing can ask.
 */
export function launchRuntime({ args, env, write }: Launch): Runtime {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...env, BELLWETHER_SUPERVISOR: String(process.pid) },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  forwardWanted(child, write)
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal === null ? `ended with ${code}` : `was killed by ${signal}`))
  })
  const signalGroup = (signal: NodeJS.Signals | 0) => child.pid !== undefined && signalIfThere(-child.pid, signal)
  const members = () => listProcesses().filter(({ group }) => group === child.pid)
  let noted: readonly number[] = []
  const isGone = async (patienceMs: number) => {
    const deadline = Date.now() + patienceMs
    // The dead stay in their group until someone collects them, which an init process may take a second for.
    while (signalGroup(0) && members().length > 0) {
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
    exited,
    noteMembers() {
      noted = members().map(({ pid }) => pid)
    },
    hasLostMember() {
      const alive = new Set(members().map(({ pid }) => pid))
      return noted.some((pid) => !alive.has(pid))
    },
    kill,
    async stop() {
      signalGroup('SIGTERM')
      if (!(await isGone(TERM_PATIENCE_MS))) await kill()
    },
  }
}
