// What a repository asks to have done when its working copy is new: a script that is run once, as a hidden command, and
// one that becomes the pre-commit hook. The action of the script is stored before it begins, so that after a crash it is
// known that it began; it is not run a second time.

import { runAction } from '../../src/agent/actions.ts'
import type { NewEvent } from '../../src/agent/events.ts'
import { OWN_DIRECTORY, REFERENCE_DIRECTORY } from '../../src/agent/microagents.ts'
import { errorObservation, runObservation } from '../../src/agent/observations.ts'
import { type FileSystem, isFileError } from '../../src/workspace/file-system.ts'
import { preCommitHook } from '../../src/workspace/git/hooks.ts'
import type { ShellState } from '../../src/workspace/shell-state.ts'
import { Meta } from './meta.ts'

export interface SetupHost {
  sql: SqlStorage
  /** Stores events and sends them to the clients; returns the id of the first. */
  emit(events: NewEvent[]): number
  run(
    command: string,
    shell: ShellState,
    bounds: { signal: AbortSignal; timeoutMs: number },
  ): Promise<ShellState & { output: string; exitCode: number }>
}

/** The action whose outcome is not stored yet. */
type Progress = { actionId: number | null }

/** Installing what a working copy needs takes longer than a command of the agent's may. */
const TIMEOUT_MS = 600_000

const FOLDERS = [OWN_DIRECTORY, REFERENCE_DIRECTORY]

/** Whether a script was begun and never answered: the working copy is as far as it came. */
export function wasInterrupted({ sql }: SetupHost): boolean {
  return progressOf(sql).value.actionId !== null
}

/** Answers for a script that a stop or a restart cut off. */
export function settleInterrupted({ sql, emit }: SetupHost): void {
  const progress = progressOf(sql)
  const { actionId } = progress.value
  if (actionId === null) return
  emit([
    errorObservation(
      'environment',
      'The set-up script was cut off by a stop or a restart. Its outcome is unknown; it was not run again.',
      { cause: actionId, errorId: 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_ERROR' },
    ),
  ])
  progress.change({ actionId: null })
}

type Place = { fs: FileSystem; folder: string }

/** Runs the working copy's set-up script. The shell as it leaves it; null when there is no script. */
export async function runSetupScript(
  host: SetupHost,
  { fs, folder }: Place,
  signal: AbortSignal,
): Promise<ShellState | null> {
  const script = scriptIn(fs, folder, 'setup.sh')
  if (script === null) return null
  const progress = progressOf(host.sql)
  const command = `source ${script}`
  const actionId = host.emit([{ ...runAction('agent', command, { hidden: true }), source: 'environment' }])
  progress.change({ actionId })
  const { output, exitCode, cwd, env, variables } = await host.run(
    command,
    { cwd: folder, env: {}, variables: {} },
    { signal, timeoutMs: TIMEOUT_MS },
  )
  // A script that was cut off is answered for when the conversation starts again.
  signal.throwIfAborted()
  const result = { command, output: output.replace(/\n$/, ''), exitCode, workingDir: cwd, hidden: true }
  host.emit([runObservation('environment', actionId, result)])
  progress.change({ actionId: null })
  return { cwd: folder, env, variables }
}

/** Makes the working copy's script its pre-commit hook. One that somebody else put there is kept beside it. */
export async function installPreCommitHook({ fs, folder }: Place): Promise<void> {
  const script = scriptIn(fs, folder, 'pre-commit.sh')
  if (script === null) return
  const path = `${folder}/.git/hooks/pre-commit`
  const hook = preCommitHook(script)
  fs.makeDirectory(`${folder}/.git/hooks`, { recursive: true })
  if (isFile(fs, path) && new TextDecoder().decode(await fs.read(path)) !== hook) fs.rename(path, `${path}.local`)
  await fs.write(path, new TextEncoder().encode(hook), { mode: 0o755 })
}

function scriptIn(fs: FileSystem, folder: string, name: string): string | null {
  const found = FOLDERS.find((directory) => isFile(fs, `${folder}/${directory}/${name}`))
  return found === undefined ? null : `${found}/${name}`
}

function isFile(fs: FileSystem, path: string): boolean {
  try {
    return fs.lstat(path).kind === 'file'
  } catch (error) {
    if (isFileError(error)) return false
    throw error
  }
}

function progressOf(sql: SqlStorage): Meta<Progress> {
  return new Meta<Progress>(sql, 'setup-script', { actionId: null })
}
