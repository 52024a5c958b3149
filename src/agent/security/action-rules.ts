// The risk of an action, by its kind; an unknown kind has the highest risk.

import type { ActionEvent } from '../events.ts'
import { always, type RiskRule, type ToolHints } from '../tools/action-kind.ts'
import { ACTION_KINDS, actionKind } from '../tools/index.ts'
import { Folders } from './folders.ts'
import type { JudgeScript } from './script-judge.ts'
import { type JudgeContext, RISK, type Verdict } from './verdict.ts'

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

export type Judging = JudgeContext & {
  readonly judgeScript: JudgeScript
  /** For a call of a remote tool. */
  readonly hints?: ToolHints | null
}

/** Pure: what the model says about itself plays no part. */
export function riskOfAction(
  { action, args }: ActionEvent,
  { judgeScript, hints = null, ...context }: Judging,
): Verdict {
  const risk = actionKind(action)?.risk
  if (risk?.by === 'script') return judgeScript(risk.scriptOf(args), context)
  const places = new Folders('/', context.files ?? null).placesOf(String(args.path ?? ''))
  const rule = risk?.rules.find(({ given }) => given({ args, hints, places })) ?? UNKNOWN_KIND
  return { risk: RISK[rule.risk], reasons: rule.risk === 'low' ? [] : [rule.says] }
}
