// The levels of the agent's actions, as rows that users read too. A kind of action that is not here counts as high.

import { REQUEST_TOOLS } from '../../mcp/request-tools.ts'
import type { ActionEvent } from '../events.ts'
import { Folders } from './folders.ts'
import type { JudgeScript } from './judge.ts'
import {
  isGitConfig,
  isGitInternal,
  isOutside,
  isRunByItself,
  isSecretFile,
  isStartupFile,
  isToldLater,
} from './paths.ts'
import { RISK } from './risk.ts'
import type { Surroundings, Verdict } from './verdict.ts'

type Level = 'low' | 'medium' | 'high'

export type ActionRule = {
  readonly risk: Level
  readonly about: string
  readonly says: string
  readonly actions: readonly string[]
  readonly given: (judged: Judged) => boolean
}

/** `name`: of a called tool. `places`: of the editor's file, as it is written and as the links of the workspace lead. */
type Judged = { readonly name: unknown; readonly hints: ToolHints | null; readonly places: readonly string[] }

/** What a remote server says of its tool; nobody checks it. */
export type ToolHints = { readonly isDestructive: boolean }

const always = () => true

export const ACTION_RULES: readonly ActionRule[] = [
  {
    risk: 'high',
    about: 'editor',
    says: 'changes a file inside `.git`, a hook, a script that the service runs by itself, a file that is named like one with secrets, or one outside of the workspace and /tmp',
    actions: ['edit', 'write'],
    given: ({ places }) => places.some((place) => isPrecious(place) || isOutside(place)),
  },
  {
    risk: 'high',
    about: 'editor',
    says: 'reads a file that is named like one with secrets',
    actions: ['read'],
    given: ({ places }) => places.some(isSecretFile),
  },
  {
    risk: 'high',
    about: 'remote tools',
    says: 'calls a tool of which its server says that it destroys something',
    actions: ['call_tool_mcp'],
    given: ({ hints }) => hints?.isDestructive === true,
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
    given: ({ places }) => places.some(isGitConfig),
  },
  {
    risk: 'medium',
    about: 'editor',
    says: 'changes what agents are told in conversations to come: `.bellwether/microagents` and `.openhands`',
    actions: ['edit', 'write'],
    given: ({ places }) => places.some(isToldLater),
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

const isPrecious = (path: string) =>
  isGitInternal(path) || isSecretFile(path) || isStartupFile(path) || isRunByItself(path)

export type Judging = Surroundings & {
  readonly judgeScript: JudgeScript
  /** Of a call of a remote tool. */
  readonly hints?: ToolHints | null
}

/** Pure: what the model says about itself plays no part. */
export function riskOfAction(
  { action, args }: ActionEvent,
  { judgeScript, hints = null, ...around }: Judging,
): Verdict {
  if (action === 'run') return judgeScript(String(args.command ?? ''), around)
  const places = new Folders('/', around.files ?? null).placesOf(String(args.path ?? ''))
  const rule = ACTION_RULES.find(
    ({ actions, given }) => actions.includes(action) && given({ name: args.name, hints, places }),
  )
  const { risk, says } = rule ?? UNKNOWN_KIND
  return { risk: RISK[risk], reasons: risk === 'low' ? [] : [says] }
}

const UNKNOWN_KIND = { risk: 'high', says: 'does something of a kind that no rule knows' } as const
