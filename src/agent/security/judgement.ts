// How an action of the agent is judged: by the rules, the current settings, and what earlier actions left in the shell
// and in the workspace.

import type { Settings } from '../../db/settings.ts'
import type { ShellState } from '../../kits/shell/index.ts'
import { type FileSystem, isFileError } from '../../workspace/file-system.ts'
import type { ActionEvent } from '../events.ts'
import { always, type RiskRule, type ToolHints } from '../tools/action-kind.ts'
import { ACTION_KINDS, actionKind } from '../tools/index.ts'
import type { Tool } from '../tools/tool.ts'
import { DEFAULT_RISK_SEVERITY, Folders, type JudgeContext, type Links, RISK, type Verdict } from './bench.ts'
import type { JudgeScript } from './script-judge.ts'

// The risk of an action, by its kind; an unknown kind has the highest risk.

const UNKNOWN_KIND: RiskRule = {
  risk: 'high',
  about: 'any other action',
  says: 'does something of a kind that no rule knows',
  given: always,
}

/** As they are shown to users. */
export const ACTION_RULES: readonly RiskRule[] = [
  ...new Set(ACTION_KINDS.flatMap(({ risk }) => (risk.by === 'rules' ? risk.rules : []))),
  UNKNOWN_KIND,
]

export type ActionContext = JudgeContext & {
  readonly judgeScript: JudgeScript
  /** For a call of a remote tool. */
  readonly hints?: ToolHints | null
}

/** Pure: what the model says about itself is not considered. */
export function riskOfAction(
  { action, args }: ActionEvent,
  { judgeScript, hints = null, ...context }: ActionContext,
): Verdict {
  const risk = actionKind(action)?.risk
  if (risk?.by === 'script') return judgeScript(risk.scriptOf(args), context)
  const places = new Folders('/', context.files ?? null).placesOf(String(args.path ?? ''))
  const rule = risk?.rules.find(({ given }) => given({ args, hints, places })) ?? UNKNOWN_KIND
  return { risk: RISK[rule.risk], reasons: rule.risk === 'low' ? [] : [rule.says] }
}

/** The current state of the conversation that a judgement uses. */
type Scene = { shell: ShellState; files: FileSystem; secretNames: readonly string[] }

export type Judgement = { risk: number | null; reasons: readonly string[]; needsConfirmation: boolean }

type Judging = {
  settings: Settings
  /** The level from which an action waits; null for the default. */
  severity: number | null
  /** Null when no analyzer is set. */
  judgeScript: JudgeScript | null
  tools: ReadonlyMap<string, Tool>
  scene(): Scene
}

export function judgementBy({ settings, severity, judgeScript, tools, scene }: Judging) {
  return (action: ActionEvent): Judgement => {
    const verdict = judgeScript && riskOfAction(action, judgeContext(judgeScript, tools, { action, scene: scene() }))
    const risk = verdict?.risk ?? null
    return {
      risk,
      reasons: verdict?.reasons ?? [],
      needsConfirmation: settings.confirmationMode === true && needsConfirmation(action, { risk, severity }),
    }
  }
}

function judgeContext(
  judgeScript: JudgeScript,
  tools: ReadonlyMap<string, Tool>,
  { action, scene: { shell, files, secretNames } }: { action: ActionEvent; scene: Scene },
) {
  const hints = tools.get(String(action.args.name))?.hints ?? null
  return { judgeScript, hints, secretNames, shell, files: linksOf(files) }
}

/** Paths are resolved once for each judgement, because nothing changes while it runs. */
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

/** For a missing path: the nearest existing folder, then the rest of the path unchanged. */
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

/** Writing to a dangling link creates the file that it names. */
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

// Which actions wait for the owner.

type Asking = {
  /** Null when no analyzer is set: then every kind that can ask does ask. */
  readonly risk: number | null
  /** The risk from which the owner wants to confirm; null for the default. */
  readonly severity: number | null
}

/** For owners with confirmation enabled. An unknown kind always asks. */
export function needsConfirmation({ source, action, args }: ActionEvent, { risk, severity }: Asking): boolean {
  if (source !== 'agent') return false
  const kind = actionKind(action)
  if (kind === null) return true
  const asks = kind.asks(args)
  if (asks === 'never') return false
  if (risk === null) return asks !== 'looks'
  return risk === RISK.unknown || risk >= (severity ?? DEFAULT_RISK_SEVERITY)
}
