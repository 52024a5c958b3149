// How an action of the agent's is judged: by the rules, the settings as they are now, and what earlier actions have left
// in the shell and in the workspace.

import type { ActionEvent } from '../../src/agent/events.ts'
import { riskOfAction } from '../../src/agent/security/action-rules.ts'
import { needsConfirmation } from '../../src/agent/security/confirmation.ts'
import type { JudgeScript } from '../../src/agent/security/judge.ts'
import type { Links } from '../../src/agent/security/verdict.ts'
import type { Tool } from '../../src/agent/tools/tool.ts'
import type { Settings } from '../../src/db/settings.ts'
import { type FileSystem, isFileError } from '../../src/workspace/file-system.ts'
import type { ShellState } from '../../src/workspace/shell-state.ts'

/** What the conversation has at the moment. */
export type Scene = { shell: ShellState; files: FileSystem; secretNames: readonly string[] }

export type Judgement = { risk: number | null; reasons: readonly string[]; needsConfirmation: boolean }

type Judging = {
  settings: Settings
  /** The level from which an action waits; null for the usual one. */
  severity: number | null
  /** Null without an analyzer. */
  judgeScript: JudgeScript | null
  tools: ReadonlyMap<string, Tool>
  scene(): Scene
}

export function judgementBy({ settings, severity, judgeScript, tools, scene }: Judging) {
  return (action: ActionEvent): Judgement => {
    const verdict = judgeScript && riskOfAction(action, around(judgeScript, tools, { action, scene: scene() }))
    const risk = verdict?.risk ?? null
    return {
      risk,
      reasons: verdict?.reasons ?? [],
      needsConfirmation: settings.confirmationMode === true && needsConfirmation(action, { risk, severity }),
    }
  }
}

function around(
  judgeScript: JudgeScript,
  tools: ReadonlyMap<string, Tool>,
  { action, scene: { shell, files, secretNames } }: { action: ActionEvent; scene: Scene },
) {
  const hints = tools.get(String(action.args.name))?.hints ?? null
  return { judgeScript, hints, secretNames, shell, files: linksOf(files) }
}

/** Paths are looked up once for each judgement: nothing changes while it is made. */
export function linksOf(files: FileSystem): Links {
  const known = new Map<string, string | null>()
  return {
    resolve(path) {
      const before = known.get(path)
      if (before !== undefined) return before
      const resolved = resolvedPath(files, path)
      known.set(path, resolved)
      return resolved
    },
    exists: (path) => files.exists(path),
  }
}

/** Of what is not there yet, the nearest folder that is there; what is behind that stays as it is written. */
function resolvedPath(files: FileSystem, path: string): string | null {
  const names = path.split('/').filter((name) => name !== '')
  for (let there = names.length; there >= 0; there--) {
    const start = `/${names.slice(0, there).join('/')}`
    const real = realPath(files, start) ?? danglingTarget(files, start)
    if (real !== null) return [real === '/' ? '' : real, ...names.slice(there)].join('/') || '/'
  }
  return null
}

function realPath(files: FileSystem, path: string): string | null {
  try {
    return files.realPath(path)
  } catch (error) {
    if (isFileError(error)) return null
    throw error
  }
}

/** Whoever writes to a link makes the file that it names. */
function danglingTarget(files: FileSystem, path: string): string | null {
  try {
    if (files.lstat(path).kind !== 'symlink') return null
    const target = files.readLink(path)
    return target.startsWith('/') ? target : `${path.slice(0, path.lastIndexOf('/'))}/${target}`
  } catch (error) {
    if (isFileError(error)) return null
    throw error
  }
}
