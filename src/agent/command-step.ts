// A command that the user typed, or that the agent without a model makes from a message.

import { errorFields, log as logger } from '../lib/log.ts'
import { runAction, systemAction } from './actions.ts'
import type { ActionEvent, StoredEvent } from './events.ts'
import { errorObservation, runObservation } from './observations.ts'
import { failureText, folderKept, type Runtime, shownResult } from './runtime.ts'
import type { CommandStep, StepOutcome, Turn } from './turn.ts'
import type { TurnDeps } from './turn-deps.ts'

const FAILED = 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_ERROR'

type CommandDeps = Pick<TurnDeps, 'turn' | 'runCommand' | 'runtimes' | 'secrets' | 'workplace' | 'stream'>

/** The command of an input, as a step that has not begun. A message first becomes an action of the agent. */
export function commandOf({ emit }: Pick<TurnDeps, 'emit'>, input: StoredEvent): CommandStep {
  // Stored by this service: an action that was validated when it arrived.
  const { args } = JSON.parse(input.text) as { args: { content: string; command: string; hidden: boolean } }
  if (input.kind === 'action:run') {
    return { kind: 'command', actionId: input.id, from: 'user', command: args.command, hidden: args.hidden }
  }
  const actionId = emit([answerTo(args.content)])
  return { kind: 'command', actionId, from: 'agent', command: args.content, hidden: false }
}

export async function runCommandStep(step: CommandStep, deps: CommandDeps, signal: AbortSignal): Promise<StepOutcome> {
  const { turn, runCommand } = deps
  const { from, actionId, command, hidden } = step
  try {
    const runtime = await deps.runtimes.choose(deps.runtimes.keyOf(actionId))
    if (runtime.kind === 'missing')
      return { events: [errorObservation(from, runtime.why, { cause: actionId, errorId: FAILED })] }
    if (runtime.kind === 'runner') return await runOnRunner(step, deps, { runtime, signal })
    const outcome = await runCommand(command, turn.value.shell, signal)
    if (outcome.aborted) return { events: [stoppedCommand(step, outcome.output)] }
    const { output, exitCode, cwd, env, variables } = outcome
    if (turn.value.step === step) turn.change({ shell: { cwd, env, variables } })
    // The reference sends what a terminal shows above its next prompt: without a final line end.
    const shown = output.replace(/\n$/, '')
    return {
      events: [runObservation(from, actionId, { command, output: shown, exitCode, workingDir: cwd, hidden })],
    }
  } catch (error) {
    logger.error('agent.command_failed', errorFields(error))
    const text = 'The shell failed on this command. Its outcome is unknown; what it wrote so far is kept.'
    return { events: [errorObservation(from, text, { cause: actionId, errorId: FAILED })] }
  }
}

/** Messages that are keys of a terminal: they go to the running program. */
const KEYS = /^C-[a-z]$/

async function runOnRunner(
  step: CommandStep,
  { turn, runtimes, secrets, workplace, stream }: CommandDeps,
  { runtime, signal }: { runtime: Extract<Runtime, { kind: 'runner' }>; signal: AbortSignal },
): Promise<StepOutcome> {
  const { from, actionId, command, hidden } = step
  const text = command.trim()
  const kind = text === '' ? 'more' : KEYS.test(text) ? 'input' : 'run'
  const { shell } = turn.value
  const result = await runtime.run({
    key: runtimes.keyOf(actionId),
    kind,
    text: kind === 'run' ? command : text,
    cwd: shell.cwd,
    env: workplace().secrets,
    timeoutMs: null,
    signal,
    filter: secrets.stream(),
    onOutput: (piece) => stream({ type: 'output', action_id: actionId, text: piece }),
  })
  if (result.aborted) return { events: [stoppedCommand(step, result.output)] }
  if (result.failure !== null) {
    return { events: [errorObservation(from, failureText(result), { cause: actionId, errorId: FAILED })] }
  }
  if (turn.value.step === step) turn.change({ shell: { ...shell, cwd: folderKept(result, shell.cwd) } })
  const { output, remark, ...shown } = shownResult(result)
  // No model reads the remark, so it is shown to the user.
  const told = [output, remark].filter((text) => text !== '').join('\n')
  return { events: [runObservation(from, actionId, { command, hidden, remark, output: told, ...shown })] }
}

export function stoppedCommand({ from, actionId }: CommandStep, output: string) {
  const soFar = output === '' ? '' : ` Its output until then:\n${output}`
  return errorObservation(from, `The command was stopped.${soFar}`, {
    cause: actionId,
    errorId: 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED',
  })
}

/** The working directory after the newest command; null when there was none. */
export function folderThen({ log }: Pick<TurnDeps, 'log'>): string | null {
  const id = log.newestOf('observation:run')
  const text = id < 0 ? null : log.get(id)
  if (text === null) return null
  // Stored by this service, as `runObservation` makes it.
  const { extras } = JSON.parse(text) as { extras: { metadata?: { working_dir?: string } } }
  return extras.metadata?.working_dir ?? null
}

// The agent without a model: every message is a shell script, run in the session that the last one left.

const ABOUT = `This conversation is a shell. Every message is run as a bash script in the workspace at /workspace; the
folder and exported variables last from one message to the next. No language model is involved.`

export function introduction(): ActionEvent {
  return systemAction(ABOUT, 'ShellAgent', [])
}

/** The action for a message. */
function answerTo(message: string): ActionEvent {
  return runAction('agent', message)
}

// Inputs that the agent without a model cannot run as a script: a task in natural language, or a message with pictures
// only. Running them would do something that nobody asked for, so they are answered with a sentence.

const HOW =
  'Name a model in the settings (llm_model, and llm_api_key where it needs a key), with an agent other than ShellAgent'

const TASK = `This task is written for a language model, and this conversation has none, so nothing of it was run. ${HOW}, and send it again.`

const PICTURES = `Nothing was run: only a language model can look at a picture, and this conversation has none. ${HOW}, and send it again.`

/** The sentence; null for an input that should be run. */
export function refusalOf(input: StoredEvent, { agent, task }: Turn): string | null {
  if (agent !== 'ShellAgent' || input.kind !== 'action:message') return null
  if (input.id === task) return TASK
  // Stored by this service: an action that was validated when it arrived.
  const { args } = JSON.parse(input.text) as { args: { content: string; image_urls: string[] | null } }
  return args.content.trim() === '' && (args.image_urls ?? []).length > 0 ? PICTURES : null
}
