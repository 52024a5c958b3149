// A command that the user typed, or that the agent without a model makes of a message.

import { errorObservation, runObservation } from '../../src/agent/observations.ts'
import { answerTo } from '../../src/agent/shell-agent.ts'
import { errorFields, log as logger } from '../../src/lib/log.ts'
import type { ShellState } from '../../src/workspace/shell-state.ts'
import type { StoredEvent } from './event-log.ts'
import type { StepOutcome } from './step-outcome.ts'
import type { CommandStep, Desk } from './turn.ts'

export type CommandOutcome = ShellState & { output: string; exitCode: number; aborted: boolean }
export type RunCommand = (command: string, shell: ShellState, signal: AbortSignal) => Promise<CommandOutcome>

/** What the input asks for, as a step that has not begun. A message becomes an action of the agent's first. */
export function commandOf(desk: Desk, input: StoredEvent): CommandStep {
  // Our own row: an action that was validated when it came in.
  const { args } = JSON.parse(input.text) as { args: { content: string; command: string; hidden: boolean } }
  if (input.kind === 'action:run') {
    return { kind: 'command', actionId: input.id, from: 'user', command: args.command, hidden: args.hidden }
  }
  const actionId = desk.emit([answerTo(args.content)])
  return { kind: 'command', actionId, from: 'agent', command: args.content, hidden: false }
}

export async function runCommandStep(
  step: CommandStep,
  { desk, run, signal }: { desk: Desk; run: RunCommand; signal: AbortSignal },
): Promise<StepOutcome> {
  const { from, actionId, command, hidden } = step
  try {
    const outcome = await run(command, desk.turn.value.shell, signal)
    if (outcome.aborted) return { events: [stoppedCommand(step, outcome.output)] }
    const { output, exitCode, cwd, env, variables } = outcome
    if (desk.turn.value.step === step) desk.turn.change({ shell: { cwd, env, variables } })
    // The reference sends what a terminal shows above its next prompt: no final line end.
    const shown = output.replace(/\n$/, '')
    return {
      events: [runObservation(from, actionId, { command, output: shown, exitCode, workingDir: cwd, hidden })],
    }
  } catch (error) {
    logger.error('agent.command_failed', errorFields(error))
    const text = 'The shell failed on this command. Its outcome is unknown; what it wrote so far is kept.'
    const errorId = 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_ERROR'
    return { events: [errorObservation(from, text, { cause: actionId, errorId })] }
  }
}

export function stoppedCommand({ from, actionId }: CommandStep, output: string) {
  const soFar = output === '' ? '' : ` Its output until then:\n${output}`
  return errorObservation(from, `The command was stopped.${soFar}`, {
    cause: actionId,
    errorId: 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED',
  })
}

/** Where the newest command left off; null when there was none. */
export function folderThen({ log }: Pick<Desk, 'log'>): string | null {
  const id = log.newestOf('observation:run')
  const text = id < 0 ? null : log.get(id)
  if (text === null) return null
  // Our own row, as `runObservation` makes it.
  const { extras } = JSON.parse(text) as { extras: { metadata?: { working_dir?: string } } }
  return extras.metadata?.working_dir ?? null
}
