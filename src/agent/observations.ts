import type { EventSource, ObservationEvent, ToolCallMetadata } from './events.ts'
import type { Match } from './microagents.ts'
import type { AgentState } from './turn.ts'

/** Marks error observations that are for the user alone. */
export const USER_ONLY = 'AGENT_NOTE$USER_ONLY'

export type CommandResult = {
  command: string
  output: string
  exitCode: number
  workingDir: string
  hidden: boolean
  /** For the model, in addition to the output. */
  remark?: string
  /** On a runner: the machine's user; absent for the interpreter. */
  user?: string
  host?: string
  interpreter?: string
}

/** The output of a command and how it ended. Its source is that of its action. */
export function runObservation(from: EventSource, cause: number, result: CommandResult): ObservationEvent {
  return {
    source: from,
    message: `Command \`${result.command}\` executed with exit code ${result.exitCode}.`,
    cause,
    observation: 'run',
    content: result.output,
    extras: {
      command: result.command,
      metadata: {
        exit_code: result.exitCode,
        pid: -1,
        username: result.user ?? 'user',
        hostname: result.host ?? 'bellwether',
        working_dir: result.workingDir,
        py_interpreter_path: result.interpreter ?? '',
        prefix: '',
        suffix: result.remark ?? '',
      },
      hidden: result.hidden,
    },
    success: result.exitCode === 0,
  }
}

/** Every change of the agent's state is such an event; `reason` explains the error state. */
export function stateChanged(state: AgentState, reason = ''): ObservationEvent {
  return {
    source: 'environment',
    message: '',
    observation: 'agent_state_changed',
    content: '',
    extras: { agent_state: state, reason },
  }
}

/** Ids of errors that clients translate. */
export type ErrorId =
  | 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED'
  | 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_ERROR'
  | 'AGENT_ERROR$BAD_ACTION'
  | 'AGENT_NOTE$USER_ONLY'
  | ''

export function errorObservation(
  from: EventSource,
  content: string,
  options: { cause?: number; errorId?: ErrorId } = {},
): ObservationEvent {
  return {
    source: from,
    message: content,
    ...(options.cause === undefined ? {} : { cause: options.cause }),
    observation: 'error',
    content,
    extras: { error_id: options.errorId ?? '' },
  }
}

/** The user rejected the action. */
export function userRejected(text: string, cause: number, metadata: ToolCallMetadata | undefined): ObservationEvent {
  return {
    source: 'agent',
    message: text,
    cause,
    observation: 'user_rejected',
    content: text,
    extras: {},
    ...(metadata === undefined ? {} : { tool_call_metadata: metadata }),
  }
}

export type WorkspaceContext = {
  date: string
  workingDir: string
  conversationInstructions: string
  repository: { name: string; directory: string; branch: string } | null
  /** The user's description of each secret variable, by name. */
  secrets: Readonly<Record<string, string>>
}

/** The microagents: repo ones, and those that the message triggered. */
export type Recalled = { instructions: string; knowledge: readonly Match[] }

const NOTHING_RECALLED: Recalled = { instructions: '', knowledge: [] }

/** The description of the workspace that the agent gets with the first message. */
export function workspaceContext(
  cause: number,
  context: WorkspaceContext,
  recalled: Recalled = NOTHING_RECALLED,
): ObservationEvent {
  return {
    source: 'environment',
    message: 'Added workspace context',
    cause,
    observation: 'recall',
    content: 'Added workspace context',
    extras: {
      recall_type: 'workspace_context',
      repo_name: context.repository?.name ?? '',
      repo_directory: context.repository?.directory ?? '',
      repo_branch: context.repository?.branch ?? '',
      repo_instructions: recalled.instructions,
      runtime_hosts: {},
      additional_agent_instructions: '',
      date: context.date,
      custom_secrets_descriptions: context.secrets,
      conversation_instructions: context.conversationInstructions,
      working_dir: context.workingDir,
      microagent_knowledge: recalled.knowledge,
    },
  }
}

/** The microagents that a later message triggered. All members are present, as in the first recall observation. */
export function knowledgeRecalled(cause: number, knowledge: readonly Match[]): ObservationEvent {
  const nowhere = { date: '', workingDir: '', conversationInstructions: '', repository: null, secrets: {} }
  const context = workspaceContext(cause, nowhere, { instructions: '', knowledge })
  const text = `Added knowledge: ${knowledge.map(({ name }) => name).join(', ')}`
  return { ...context, message: text, content: text, extras: { ...context.extras, recall_type: 'knowledge' } }
}

// Long texts keep their beginning and their end, because the middle of an output is the least useful part.

/** The longest observation that is stored and shown to a model, in characters. */
const MAX_OBSERVATION_CHARS = 30_000

/** The longest line that says what is left out, in characters. */
const MARKER_ROOM = 60

/** Never longer than the limit; a line says how much is left out. Cuts at the end of a line if one is near. */
export function cutMiddle(text: string, maxChars = MAX_OBSERVATION_CHARS): string {
  if (text.length <= maxChars) return text
  const room = Math.max(0, maxChars - MARKER_ROOM)
  const headRoom = Math.ceil(room / 2)
  const lineEnd = text.lastIndexOf('\n', headRoom)
  const head = text.slice(0, lineEnd > headRoom / 2 ? lineEnd : headRoom)
  const tailFrom = text.length - (room - headRoom)
  const lineStart = text.indexOf('\n', tailFrom) + 1
  const tail = text.slice(lineStart > 0 && lineStart - tailFrom < headRoom / 2 ? lineStart : tailFrom)
  const leftOut = text.length - head.length - tail.length
  return `${head}\n[... ${leftOut} characters left out ...]\n${tail}`.toWellFormed()
}
