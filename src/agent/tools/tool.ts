// The interface of a tool: its description for the model, the action that a call becomes, and the observation.

import { z } from 'zod'
import type { OutputFilter, ShellCommand, ShellState } from '../../kits/shell/index.ts'
import type { AddressPolicy } from '../../lib/address-policy.ts'
import type { GuardedFetchLimits } from '../../lib/guarded-fetch.ts'
import type { JsonSchema } from '../../llm/model.ts'
import type { FileSystem } from '../../workspace/file-system.ts'
import type { AgentName } from '../agents.ts'
import type { ActionEvent, ObservationEvent } from '../events.ts'
import { type CommandResult, errorObservation, runObservation } from '../observations.ts'
import type { Runtime } from '../runtime.ts'
import type { ActionKind, ToolHints } from './action-kind.ts'

/** What a tool may use while it runs. */
export type ToolContext = {
  readonly files: FileSystem
  /** Where a command runs now. */
  runtime(key: string): Promise<Runtime>
  /** The key of this call's effect. */
  readonly key: string
  /** The state of the shell session after the last command. */
  readonly shell: ShellState
  /** Stores a command's changes to the session. */
  keepShell(shell: ShellState): void
  /** The user's secrets as environment variables of the shell, by name. */
  readonly secrets: Readonly<Record<string, string>>
  /** Fires when the user stops the agent. */
  readonly signal: AbortSignal
  /** Masks secrets in output that comes in pieces. */
  outputFilter(): OutputFilter
  /** Output as it comes: shown to the clients, not stored. */
  onOutput(text: string): void
  /** A value that the tool stores under a name for the conversation (the editor's undo, the task list); JSON. */
  recall(name: string): unknown
  remember(name: string, value: unknown): void
}

/** An observation whose action has no id yet. */
export type Outcome = Omit<ObservationEvent, 'cause'>

/** A call with valid arguments: it has its action and can run once. */
export type PreparedCall = {
  /** The action event; `thought` is filled in by the caller. */
  readonly action: ActionEvent
  /** Throws only for a bug in this service or when the signal fired, never because of the model's input. */
  run(context: ToolContext): Promise<Outcome>
}

/** A tool as an agent has it in one step. */
export type Tool = {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
  /** Whether a call whose outcome was lost in a crash may run again. */
  readonly repeatable: boolean
  /** For a remote tool, the annotations of its server; null for our own. */
  readonly hints: ToolHints | null
  /** Throws `BadCall` with the error, for the model to read. */
  prepare(args: unknown): PreparedCall
}

/** Agents that use a model, and so have tools. */
export type ToolAgent = Exclude<AgentName, 'ShellAgent'>

export type BrowseDeps = {
  readonly policy: AddressPolicy
  readonly fetch?: typeof fetch
  readonly limits?: Partial<GuardedFetchLimits>
}

/** The dependencies of tools. */
export type ToolDeps = {
  /** Shell commands besides the built-in ones: `git`, and those of the shell kit. */
  readonly commands: readonly ShellCommand[]
  /** Where the commands will run, as far as this is known when the model is asked. */
  readonly runsOn: 'edge' | 'runner'
  /** Whether that machine has a notebook kernel. */
  readonly hasKernel?: boolean
  /** Whether that machine has a browser. */
  readonly hasBrowser?: boolean
  readonly shellTimeoutMs: number
  readonly seesImages: boolean
  /** The fetch for web pages and its limits; without it the agent has no `browse`. */
  readonly browse?: BrowseDeps
}

/**
 * One of our own tools, with everything that the rest of the service must know. A tool is its file plus its line in
 * `index.ts`.
 */
export type ToolUnit = {
  readonly name: string
  /** The agents that have the tool. */
  readonly agents: readonly ToolAgent[]
  /** The kinds of its actions: risk, confirmation, text for the model, view and replay. */
  readonly kinds: readonly ActionKind[]
  /** Whether its results are web pages, of which the model sees only the newest two. */
  readonly isPage: boolean
  /** Null when the agent cannot have the tool. */
  open(deps: ToolDeps): Tool | null
}

/** The arguments of a call are invalid; `message` tells the model why. */
export class BadCall extends Error {
  override readonly name = 'BadCall'
}

// A tool's parameters are declared once, as a zod schema: it validates the model's arguments, and the JSON schema for the
// model is generated from it.

/** Every field is required, so a forgotten one is a type error. */
export type ToolDefinition<Args> = {
  readonly name: string
  /** For the model; a function if it depends on the tool's dependencies. */
  readonly description: string | ((deps: ToolDeps) => string)
  /** An object schema; optional members may be omitted, and `prepare` applies defaults. */
  readonly schema: z.ZodType<Args>
  readonly agents: readonly [ToolAgent, ...ToolAgent[]]
  /** The kinds of the actions that `prepare` makes, its own or those of another tool. A kind in no list is unknown. */
  readonly kinds: readonly [ActionKind, ...ActionKind[]]
  /** Whether a call whose outcome was lost in a crash may run again. */
  readonly repeatable: boolean
  /** Whether its results are web pages. */
  readonly isPage: boolean
  /** Returns the function that prepares a call; null when a dependency of the tool is missing. */
  prepare(deps: ToolDeps): ((args: Args) => PreparedCall) | null
}

/** The longest arguments of one call, in characters; a model that writes more is told to write less. */
const MAX_ARGUMENT_CHARS = 1_000_000
const MAX_ISSUES = 5
const MAX_ISSUE_CHARS = 300

export function defineTool<Args>(definition: ToolDefinition<Args>): ToolUnit {
  const { name, description, schema, agents, kinds, repeatable, isPage } = definition
  return {
    name,
    agents,
    kinds,
    isPage,
    open: (deps) => {
      const prepare = definition.prepare(deps)
      if (prepare === null) return null
      const take = (args: unknown): PreparedCall => {
        const checked = schema.safeParse(args)
        if (checked.success) return prepare(checked.data)
        throw new BadCall(`The arguments of ${name} do not fit. ${explained(checked.error)} Nothing was run.`)
      }
      const text = typeof description === 'string' ? description : description(deps)
      return { name, description: text, parameters: parametersOf(schema), repeatable, hints: null, prepare: take }
    },
  }
}

/** Parses the arguments that a model wrote. Throws `BadCall` if the text is not a JSON object. */
export function parseArguments(text: string): unknown {
  if (text.length > MAX_ARGUMENT_CHARS) {
    throw new BadCall(
      `The arguments are ${text.length} characters long; at most ${MAX_ARGUMENT_CHARS} are taken. Nothing was run; write less at a time.`,
    )
  }
  if (text.trim() === '') return {}
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BadCall('The arguments have to be one JSON object. Nothing was run.')
  }
  return value
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, MAX_ISSUE_CHARS) : 'unreadable'
    throw new BadCall(`The arguments are not valid JSON: ${why}. Nothing was run; send the call again with valid JSON.`)
  }
}

/** Tools are created for every step; their schemas stay the same. */
const known = new WeakMap<z.ZodType, JsonSchema>()

function parametersOf(schema: z.ZodType): JsonSchema {
  const made = known.get(schema)
  if (made !== undefined) return made
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(schema, { io: 'output' })
  known.set(schema, parameters)
  return parameters
}

function explained({ issues }: z.ZodError): string {
  const lines = issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    const place = path.length === 0 ? '' : `${path.map(String).join('.')}: `
    return `${place}${message}.`.slice(0, MAX_ISSUE_CHARS)
  })
  return issues.length > MAX_ISSUES ? `${lines.join(' ')} And more.` : lines.join(' ')
}

/** A whole number, which some models write as text. */
export const WholeNumber = z.preprocess(numberIn, z.int())
export const PositiveNumber = z.preprocess(numberIn, z.number().positive())

function numberIn(value: unknown): unknown {
  return typeof value === 'string' && /^\s*[+-]?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value
}

// Observations that more than one tool makes.

/** The source of every action of a tool and of its observation. */
export const AGENT = 'agent'

export function runOutcome(result: Omit<CommandResult, 'hidden'>): Outcome {
  return withoutCause(runObservation(AGENT, 0, { ...result, hidden: false }))
}

export function errorOutcome(text: string): Outcome {
  return withoutCause(errorObservation(AGENT, text))
}

/** The result of a file tool; its errors begin with the text that clients know. */
export function readOutcome(path: string, content: string): Outcome {
  const message = `I read the file ${path}.`
  const extras = { path, impl_source: 'oh_aci' }
  return { source: AGENT, message, observation: 'read', content, extras }
}

export function asError(text: string): string {
  return `ERROR:\n${text}`
}

function withoutCause({ cause: _cause, ...outcome }: ObservationEvent): Outcome {
  return outcome
}
