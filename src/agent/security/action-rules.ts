// The levels of the agent's actions, as rows that users read too. A kind of action that is not here counts as high.

import { REQUEST_TOOLS } from '../../mcp/request-tools.ts'
import type { ActionEvent } from '../events.ts'
import type { JudgeScript } from './judge.ts'
import { isGitConfig, isGitInternal, isOutside, isSecretFile, isStartupFile } from './paths.ts'
import { RISK } from './risk.ts'

type Level = 'low' | 'medium' | 'high'

export type ActionRule = {
  readonly risk: Level
  readonly about: string
  readonly says: string
  readonly actions: readonly string[]
  readonly given: (args: Readonly<Record<string, unknown>>, hints: ToolHints | null) => boolean
}

/** What a remote server says of its tool; nobody checks it. */
export type ToolHints = { readonly isDestructive: boolean }

const always = () => true
const pathOf = (args: Readonly<Record<string, unknown>>) => String(args.path ?? '')

export const ACTION_RULES: readonly ActionRule[] = [
  {
    risk: 'high',
    about: 'editor',
    says: 'changes a file inside `.git`, a hook, a file that is named like one with secrets, or one outside of the workspace and /tmp',
    actions: ['edit', 'write'],
    given: (args) => isPrecious(pathOf(args)) || isOutside(pathOf(args)),
  },
  {
    risk: 'high',
    about: 'editor',
    says: 'reads a file that is named like one with secrets',
    actions: ['read'],
    given: (args) => isSecretFile(pathOf(args)),
  },
  {
    risk: 'high',
    about: 'remote tools',
    says: 'calls a tool of which its server says that it destroys something',
    actions: ['call_tool_mcp'],
    given: (_, hints) => hints?.isDestructive === true,
  },
  {
    risk: 'high',
    about: 'other code',
    says: 'runs Python, or does something in a browser',
    actions: ['run_ipython', 'browse_interactive'],
    given: always,
  },
  {
    risk: 'high',
    about: 'any other action',
    says: 'does something of a kind that no rule knows',
    actions: [],
    given: always,
  },
  {
    risk: 'medium',
    about: 'requests',
    says: 'opens a pull or merge request with the stored token',
    actions: ['call_tool_mcp'],
    // No remote tool can have these names.
    given: ({ name }) => REQUEST_TOOLS.some((tool) => tool.name === name),
  },
  {
    risk: 'medium',
    about: 'remote tools',
    says: 'calls a tool of a remote server, also one of which it says that it only reads',
    actions: ['call_tool_mcp'],
    given: always,
  },
  {
    risk: 'medium',
    about: 'browser',
    says: 'opens a page: the model chooses the address, and a stranger the text',
    actions: ['browse'],
    given: always,
  },
  {
    risk: 'medium',
    about: 'editor',
    says: "reads git's settings, which may hold a token",
    actions: ['read'],
    given: (args) => isGitConfig(pathOf(args)),
  },
  {
    risk: 'low',
    about: 'editor',
    says: 'reads or changes any other file of the workspace',
    actions: ['read', 'edit', 'write'],
    given: always,
  },
  {
    risk: 'low',
    about: 'agent',
    says: 'thinks, speaks, recalls, ends, or works on its own memory',
    actions: [
      ...['message', 'think', 'finish', 'reject', 'recall', 'system', 'null'],
      ...['change_agent_state', 'condensation', 'condensation_request'],
    ],
    given: always,
  },
]

const isPrecious = (path: string) => isGitInternal(path) || isSecretFile(path) || isStartupFile(path)

export type Judging = {
  readonly judgeScript: JudgeScript
  /** The variables of the shell that hold secrets. */
  readonly secretNames: readonly string[]
  /** Of a call of a remote tool. */
  readonly hints?: ToolHints | null
}

/** Pure: what the model says about itself plays no part. */
export function riskOfAction(
  { action, args }: ActionEvent,
  { judgeScript, secretNames, hints = null }: Judging,
): number {
  if (action === 'run') return judgeScript(String(args.command ?? ''), secretNames)
  const rule = ACTION_RULES.find(({ actions, given }) => actions.includes(action) && given(args, hints))
  return rule === undefined ? RISK.high : RISK[rule.risk]
}
