// Runs what a repository asks for when its working copy is new: one script runs once as a hidden command, another becomes
// the pre-commit hook. The action of the script is stored before it begins. So after a crash it is known that it began, and
// it is not run a second time.

import { runAction } from '../../../src/agent/actions.ts'
import type { NewEvent } from '../../../src/agent/events.ts'
import { OWN_DIRECTORY, REFERENCE_DIRECTORY } from '../../../src/agent/microagents.ts'
import { errorObservation, runObservation } from '../../../src/agent/observations.ts'
import { failureText, folderKept, type RunnerResult, shownResult } from '../../../src/agent/runtime.ts'
import { preCommitHook } from '../../../src/kits/git/index.ts'
import type { ShellState } from '../../../src/kits/shell/index.ts'
import type { FileSystem } from '../../../src/workspace/file-system.ts'
import { kindAt } from '../../../src/workspace/stat.ts'
import { StoredRecord } from '../../stored-record.ts'
import type { LentHost, LentSetup } from './on-runner.ts'

export interface SetupHost extends LentHost {
  /** Stores events and sends them to the clients; returns the id of the first. */
  emit(events: NewEvent[]): number
  run(
    command: string,
    shell: ShellState,
    bounds: { signal: AbortSignal; timeoutMs: number },
  ): Promise<ShellState & { output: string; exitCode: number }>
  /** The environment of a command on a runner. */
  readonly variables: Readonly<Record<string, string>>
}

const NOT_EXECUTED = 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_ERROR'

/** The action whose outcome is not stored yet. */
type Progress = { actionId: number | null }

/** Installing the dependencies of a working copy may take longer than a command of the agent. */
const TIMEOUT_MS = 600_000

const FOLDERS = [OWN_DIRECTORY, REFERENCE_DIRECTORY]

/** Whether a script began and its observation is missing: then the working copy is only partly set up. */
export function wasInterrupted({ sql }: SetupHost): boolean {
  return progressOf(sql).value.actionId !== null
}

/** Adds the observation for a script that a stop or a restart interrupted. */
export function settleInterrupted({ sql, emit }: SetupHost): void {
  const progress = progressOf(sql)
  const { actionId } = progress.value
  if (actionId === null) return
  emit([
    errorObservation(
      'environment',
      'The set-up script was cut off by a stop or a restart. Its outcome is unknown; it was not run again.',
      { cause: actionId, errorId: NOT_EXECUTED },
    ),
  ])
  progress.change({ actionId: null })
}

type WorkingCopy = { fs: FileSystem; folder: string }

/**
 * Runs the set-up script of the working copy. Returns the shell session after it; null when there is no script, or when
 * it ran on a runner, where the session continues.
 */
export async function runSetupScript(
  host: SetupHost,
  { fs, folder, lent }: WorkingCopy & { lent: LentSetup },
  signal: AbortSignal,
): Promise<ShellState | null> {
  const progress = progressOf(host.sql)
  const script = scriptIn(fs, folder, 'setup.sh')
  if (script === null && progress.value.actionId === null) return null
  const command = `source ${script}`
  // A script that a runner still runs has its action already.
  const actionId =
    progress.value.actionId ?? host.emit([{ ...runAction('agent', command, { hidden: true }), source: 'environment' }])
  progress.change({ actionId })
  const place = await lent.choose('script')
  signal.throwIfAborted()
  if (place.runner !== null) {
    const work = { text: command, cwd: folder, env: host.variables, limitMs: TIMEOUT_MS, signal }
    const result = await lent.script(place.runner, work)
    host.emit([outcomeOf(result, { command, actionId, folder })])
    progress.change({ actionId: null })
    return null
  }
  if (place.why !== null) {
    host.emit([errorObservation('environment', `The set-up script was not run. ${place.why}`, { cause: actionId })])
    progress.change({ actionId: null })
    return null
  }
  const { output, exitCode, cwd, env, variables } = await host.run(
    command,
    { cwd: folder, env: {}, variables: {} },
    { signal, timeoutMs: TIMEOUT_MS },
  )
  // The observation for an interrupted script is added when the conversation starts again.
  signal.throwIfAborted()
  const result = { command, output: output.replace(/\n$/, ''), exitCode, workingDir: cwd, hidden: true }
  host.emit([runObservation('environment', actionId, result)])
  progress.change({ actionId: null })
  return { cwd: folder, env, variables }
}

type SetupCommand = { command: string; actionId: number; folder: string }

function outcomeOf(result: RunnerResult, { command, actionId, folder }: SetupCommand): NewEvent {
  if (result.failure !== null)
    return errorObservation('environment', failureText(result), { cause: actionId, errorId: NOT_EXECUTED })
  const { output, ...shown } = shownResult(result)
  const workingDir = folderKept(result, folder)
  return runObservation('environment', actionId, { command, output, ...shown, workingDir, hidden: true })
}

/** Makes the working copy's script its pre-commit hook. A hook that is already there is kept beside it. */
export async function installPreCommitHook({ fs, folder }: WorkingCopy): Promise<void> {
  const script = scriptIn(fs, folder, 'pre-commit.sh')
  if (script === null) return
  const path = `${folder}/.git/hooks/pre-commit`
  const hook = preCommitHook(script)
  fs.makeDirectory(`${folder}/.git/hooks`, { recursive: true })
  if (kindAt(fs, path) === 'file' && new TextDecoder().decode(await fs.read(path)) !== hook)
    fs.rename(path, `${path}.local`)
  await fs.write(path, new TextEncoder().encode(hook), { mode: 0o755 })
}

function scriptIn(fs: FileSystem, folder: string, name: string): string | null {
  const found = FOLDERS.find((directory) => kindAt(fs, `${folder}/${directory}/${name}`) === 'file')
  return found === undefined ? null : `${found}/${name}`
}

function progressOf(sql: SqlStorage): StoredRecord<Progress> {
  return new StoredRecord<Progress>(sql, 'setup-script', { actionId: null })
}
