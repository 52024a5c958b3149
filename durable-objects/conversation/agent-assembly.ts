// Puts the agent of a conversation together: the loop, and everything that it works with.

import { systemAction } from '../../src/agent/actions.ts'
import type { AgentName } from '../../src/agent/agents.ts'
import type { ActionEvent, NewEvent } from '../../src/agent/events.ts'
import type { WorkspaceContext } from '../../src/agent/observations.ts'
import { systemPrompt } from '../../src/agent/prompt.ts'
import type { ReplayStep } from '../../src/agent/replay.ts'
import { introduction } from '../../src/agent/shell-agent.ts'
import { toolsOf } from '../../src/agent/tools/index.ts'
import type { Tool } from '../../src/agent/tools/tool.ts'
import { config } from '../../src/config.ts'
import type { McpServers } from '../../src/db/settings.ts'
import type { LanguageModel } from '../../src/llm/model.ts'
import type { FileSystem } from '../../src/workspace/file-system.ts'
import type { ShellCommand } from '../../src/workspace/shell-extensions.ts'
import { AgentLoop } from './agent-loop.ts'
import { CallQueue } from './call-queue.ts'
import type { RunCommand } from './command-step.ts'
import { Condenser } from './condenser.ts'
import type { StreamFrame } from './delta-stream.ts'
import type { EventLog } from './event-log.ts'
import { History } from './history.ts'
import { Meta } from './meta.ts'
import { readMicroagents } from './microagent-files.ts'
import { Outfitter } from './outfitter.ts'
import { Recall } from './recall.ts'
import { ReplayQueue } from './replay-queue.ts'
import { requestTools } from './request-tools.ts'
import type { Announcement } from './socket-protocol.ts'
import { Thinker } from './thinker.ts'
import { listTools } from './tool-servers.ts'
import { type Desk, NEW_TURN, type Turn } from './turn.ts'
import type { Vault } from './vault.ts'

export type AgentParts = {
  env: Env
  sql: SqlStorage
  owner: string
  conversationId: string
  log: EventLog
  files: FileSystem
  vault: Vault
  emit(events: NewEvent[]): number
  wake(at: number): void
  runCommand: RunCommand
  context(workingDir: string): WorkspaceContext
  commands(): readonly ShellCommand[]
  ownServers(): Promise<McpServers | null>
  /** A pull or merge request came out of this conversation. */
  notePullRequest(number: number): void
  stream(frame: StreamFrame): void
  announce(frame: Announcement): void
  /** Whether a client is there that hears an announcement. */
  isFollowed(): boolean
  /** The workspace and, where there is one, the repository in it. */
  noteRoots(): string[]
  /** Of a conversation that is being created from a recording. */
  replay: ReplayStep[] | null
}

/** The loop, and the model that it would ask now; null when there is none, or none can be asked. */
export type Agent = { loop: AgentLoop; model(): Promise<LanguageModel | null> }

export function assembleAgent(parts: AgentParts): Agent {
  const { env, sql, log, vault } = parts
  const calls = new CallQueue(sql)
  const turn = new Meta<Turn>(sql, 'turn', NEW_TURN)
  const desk: Desk = { log, turn, calls, emit: parts.emit, wake: parts.wake }
  const history = new History(desk, (text) => vault.maskText(text))
  const outfitter = new Outfitter({
    env,
    owner: parts.owner,
    conversationId: parts.conversationId,
    vault,
    ownServers: parts.ownServers,
    requestTools: () => requestToolsOf(parts),
    listTools: (servers, signal) => listTools(servers, signal, { ...parts, desk }),
    commands: parts.commands,
    scene: () => ({ shell: turn.value.shell, files: parts.files }),
  })
  const introduce = (agent: AgentName) => introductionOf(agent, parts)
  const thinker = new Thinker({
    desk,
    history,
    outfitter,
    vault,
    condenser: new Condenser(desk, history),
    recall: new Recall({
      desk,
      context: parts.context,
      microagents: () => readMicroagents(parts.files, parts.noteRoots()),
    }),
    replay: new ReplayQueue(sql, desk, parts.replay),
    retries: config(env).models.retry,
    workplace: () => ({
      files: parts.files,
      shell: turn.value.shell,
      keepShell: (shell) => turn.change({ shell }),
      secrets: vault.variables,
      outputFilter: () => vault.stream(),
      recall: (name) => calls.recall(name),
      remember: (name, value) => calls.remember(name, value),
    }),
    stream: parts.stream,
    announce: parts.announce,
    introduce,
  })
  const loop = new AgentLoop({ desk, runCommand: parts.runCommand, introduce, thinker })
  return { loop, model: () => thinker.model() }
}

/** The tools that are told of here are the agent's own: those of remote servers are not known before the first step. */
function introductionOf(agent: AgentName, parts: AgentParts): ActionEvent {
  if (agent === 'ShellAgent') return introduction()
  const { addressPolicy: policy, shellTimeoutMs } = config(parts.env)
  const basic = toolsOf(agent, { commands: parts.commands(), shellTimeoutMs, seesImages: false, browse: { policy } })
  const tools = agent === 'ReadOnlyAgent' ? basic : [...basic, ...requestToolsOf(parts)]
  const wire = tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }))
  return systemAction(systemPrompt(agent), agent, wire)
}

function requestToolsOf({ env, owner, vault, notePullRequest }: AgentParts): Tool[] {
  const hasToken = (provider: string) => Object.hasOwn(vault.variables, `${provider.toUpperCase()}_TOKEN`)
  return requestTools({ env, owner, hasToken, note: notePullRequest })
}
