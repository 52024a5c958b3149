import { spawn } from 'node:child_process'
import { Fault } from './fault.ts'
import { ROOT } from './paths.ts'
import { signalIfThere } from './processes.ts'

type Task = {
  /** What is told when it begins, and in the sentence of a failure. */
  readonly name: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Ends it at once, with whatever it started. */
  readonly signal?: AbortSignal | undefined
}

/** Runs Node with these arguments, tells what is being done, and shows what it printed only when it failed. */
export async function runQuietly({ name, args, env, signal }: Task): Promise<void> {
  console.error(`${name} …`)
  const child = spawn(process.execPath, args, { cwd: ROOT, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const kill = () => child.pid !== undefined && signalIfThere(-child.pid, 'SIGKILL')
  signal?.addEventListener('abort', kill)
  if (signal?.aborted) kill()
  const output: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk))
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status, killedBy) => resolve(status ?? killedBy ?? 'unknown'))
  })
  signal?.removeEventListener('abort', kill)
  signal?.throwIfAborted()
  if (code === 0) return
  process.stderr.write(Buffer.concat(output))
  throw new Fault(`${name} failed (${code}); what it printed stands above.`)
}
