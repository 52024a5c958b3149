// The dependencies of the agent's loop, as a conversation provides them.

import { systemAction } from '../../../src/agent/actions.ts'
import type { AgentName } from '../../../src/agent/agents.ts'
import { introduction } from '../../../src/agent/command-step.ts'
import { readMicroagents } from '../../../src/agent/context/knowledge.ts'
import type { ActionEvent } from '../../../src/agent/events.ts'
import { systemPrompt } from '../../../src/agent/prompt.ts'
import { toolsOf } from '../../../src/agent/tools/index.ts'
import type { TurnDeps } from '../../../src/agent/turn-deps.ts'
import { config } from '../../../src/config.ts'
import { COST_MS, charged } from '../../../src/limits/share.ts'
import { checkedAnswer } from '../talk/talk-tools.ts'
import type { ReplayQueue } from './replay-queue.ts'
import { requestTools } from './request-tools.ts'
import { runCommand, shellCommands } from './shell-commands.ts'
import { OwnerStepConfigs } from './step-configs.ts'
import type { TurnHost } from './turn-host.ts'
import { noteRootsOf, workspaceContextOf } from './workspace-context.ts'

export function turnDeps(host: TurnHost, replay: ReplayQueue): TurnDeps {
  const { env, record, log, turn, calls, files, secrets, sessions, talk } = host
  const { owner } = record.value
  const { models, shellTimeoutMs } = config(env)
  return {
    log,
    turn,
    witness: turn,
    calls,
    emit: host.emit,
    wake: host.wake,
    giveWay: () => charged(owner, COST_MS.step),
    configs: new OwnerStepConfigs(host, replay),
    secrets,
    replay,
    retries: models.retry,
    review: talk === null ? null : (text) => checkedAnswer(text, { env, owner, talk }),
    introduce: (agent) => introductionOf(agent, host),
    runCommand: (command, shell, signal) => runCommand(host, { command, shell, signal, timeoutMs: shellTimeoutMs }),
    runtimes: {
      choose: (key) => host.runner.choose(key),
      keyOf: (actionId) => `${record.value.incarnation.slice(0, 12)}-${actionId}`,
      isOpen: (key) => host.runner.isOpen(key),
    },
    workplace: () => ({
      runtime: (key) => host.runner.choose(key),
      files,
      shell: turn.value.shell,
      keepShell: (shell) => turn.change({ shell }),
      secrets: secrets.variables,
      outputFilter: () => secrets.stream(),
      recall: (name) => calls.recall(name),
      remember: (name, value) => calls.remember(name, value),
    }),
    surroundings: (workingDir) => workspaceContextOf(record.value, { workingDir, secrets: secrets.descriptions }),
    microagents: () => readMicroagents(files, noteRootsOf(record.value)),
    stream: (frame) => sessions.stream(frame),
    announce: (frame) => sessions.announce(frame),
  }
}

/** The instructions and tools of a talk come with each message. */
const TALK = 'A talk about reports and market data, with tools that look them up.'

/** Lists only the agent's own tools: the tools of remote servers are not known before the first step. */
function introductionOf(agent: AgentName, host: TurnHost): ActionEvent {
  if (agent === 'ShellAgent') return introduction()
  if (host.talk !== null) return systemAction(TALK, agent, [])
  const { addressPolicy: policy, shellTimeoutMs } = config(host.env)
  const commands = shellCommands(host.env, host.record.value)
  const basic = toolsOf(agent, { commands, runsOn: 'edge', shellTimeoutMs, seesImages: false, browse: { policy } })
  const tools = agent === 'ReadOnlyAgent' ? basic : [...basic, ...requestTools(host)]
  const wire = tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }))
  return systemAction(systemPrompt(agent), agent, wire)
}
