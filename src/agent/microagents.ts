// A microagent is a Markdown file with instructions for the agent: always (repo), when one of its triggers occurs in a
// message (knowledge), or when the user calls it by name with inputs (task). Its front matter decides which of the three it
// is.

import { parseDocument } from 'yaml'
import { z } from 'zod'

/** The directories of a project that can contain microagents. */
export const OWN_DIRECTORY = '.bellwether'
/** The directory of existing repositories, for compatibility with the reference. It is named only here. */
export const REFERENCE_DIRECTORY = '.openhands'

export type Microagent = {
  /** The name that clients show: the file's path in its folder, without `.md`. */
  name: string
  kind: 'repo' | 'knowledge' | 'task'
  content: string
  /** Empty for repo microagents. */
  triggers: string[]
  inputs: { name: string; description: string }[]
  /** The names of the stdio tool servers in its front matter. */
  tools: string[]
  version: string
  agent: string
}

/** A file that was left out, or a part of it, and why. */
export type Remark = { path: string; reason: string }
export type MicroagentSet = { microagents: Microagent[]; remarks: Remark[] }

export type ParsedMicroagent = { ok: true; microagent: Microagent; warnings: string[] } | { ok: false; reason: string }

const DEFAULT_NAME = 'default'
/** Aliases and deep nesting make parsing expensive; nobody writes this much by hand. */
const MAX_FRONT_MATTER_LENGTH = 32 * 1024
const MAX_ALIASES = 50

const ASK_FOR_INPUTS =
  'If the user has not given a value for every input of this task, ask for the missing ones before you begin.'

const Word = z.string().regex(/\S/, 'must not be blank')

const ToolServers = z.strictObject({
  stdio_servers: z
    .array(
      z.object({
        name: Word,
        command: Word,
        args: z.array(z.string()).default([]),
        env: z.record(z.string(), z.string()).default({}),
      }),
    )
    .default([]),
  sse_servers: z.array(z.unknown()).default([]),
  shttp_servers: z.array(z.unknown()).default([]),
})

/** Keys that are not listed are ignored. */
const FrontMatter = z.object({
  name: Word.optional(),
  // Validated but not used: the kind follows from inputs and triggers.
  type: z.enum(['knowledge', 'repo', 'task']).default('repo'),
  version: z.union([z.string(), z.number().transform(String)]).default('1.0.0'),
  agent: z.string().default('CodeActAgent'),
  triggers: z.array(Word).default([]),
  inputs: z.array(z.object({ name: Word, description: z.string() })).default([]),
  mcp_tools: ToolServers.default({ stdio_servers: [], sse_servers: [], shttp_servers: [] }),
})
type FrontMatter = z.infer<typeof FrontMatter>

/** Parses a file. `fileName` is its path in its folder without `.md`, or null if it has none. */
export function parseMicroagent(fileName: string | null, text: string): ParsedMicroagent {
  const { front, content } = split(text)
  const declared = readFrontMatter(front)
  if (!declared.ok) return declared
  const { name: given, inputs, mcp_tools, version, agent } = declared.fields
  const kind = kindOf(declared.fields)
  const microagent: Microagent = {
    name: fileName ?? given ?? DEFAULT_NAME,
    kind,
    content: kind === 'task' ? `${content}\n\n${ASK_FOR_INPUTS}` : content,
    triggers: triggersOf(declared.fields, given ?? fileName ?? DEFAULT_NAME),
    inputs,
    tools: mcp_tools.stdio_servers.map(({ name }) => name),
    version,
    agent,
  }
  const ignored = (['sse_servers', 'shttp_servers'] as const).filter((servers) => mcp_tools[servers].length > 0)
  return { ok: true, microagent, warnings: ignored.map((servers) => `mcp_tools.${servers} is ignored`) }
}

/** A file without front matter that always applies: an instruction file of another agent's format. */
export function plainMicroagent(name: string, text: string): Microagent {
  const { version, agent } = FrontMatter.parse({})
  return { name, kind: 'repo', content: text.trim(), triggers: [], inputs: [], tools: [], version, agent }
}

export type Match = { name: string; trigger: string; content: string }

/**
 * The microagents that a user's message triggers, each with its first trigger in the message. A trigger is plain text,
 * case-insensitive, and may be inside other words.
 */
export function matchMicroagents(microagents: readonly Microagent[], message: string): Match[] {
  const text = message.toLowerCase()
  return microagents.flatMap(({ name, content, triggers }) => {
    const trigger = triggers.find((word) => text.includes(word.toLowerCase()))
    return trigger === undefined ? [] : [{ name, trigger, content }]
  })
}

function kindOf({ inputs, triggers }: FrontMatter): Microagent['kind'] {
  if (inputs.length > 0) return 'task'
  return triggers.length > 0 ? 'knowledge' : 'repo'
}

/** A task is called by the name in its front matter, else by its file's name. */
function triggersOf({ inputs, triggers }: FrontMatter, name: string): string[] {
  const call = `/${name.trim()}`
  return inputs.length === 0 || triggers.includes(call) ? triggers : [...triggers, call]
}

/**
 * Separates the front matter from the text. Front matter that is never closed is text: the file begins with a horizontal
 * rule.
 */
function split(text: string): { front: string; content: string } {
  const lines = text
    .replace(/^\uFEFF/, '')
    .trim()
    .split(/\r\n?|\n/)
  const isFence = (line: string | undefined) => line !== undefined && /^---\s*$/.test(line)
  const end = isFence(lines[0]) ? lines.findIndex((line, i) => i > 0 && isFence(line)) : -1
  return {
    front: lines.slice(1, Math.max(end, 1)).join('\n'),
    content: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
  }
}

type Declared = { ok: true; fields: FrontMatter } | { ok: false; reason: string }

function readFrontMatter(front: string): Declared {
  if (front.length > MAX_FRONT_MATTER_LENGTH) return { ok: false, reason: 'The front matter is too long' }
  const yaml = readYaml(front)
  if (!yaml.ok) return yaml
  const { value } = yaml
  if (typeof value !== 'object' || Array.isArray(value)) {
    return { ok: false, reason: 'The front matter is not a list of keys and values' }
  }
  // A key without a value counts as absent.
  const given = Object.fromEntries(Object.entries(value ?? {}).filter(([, item]) => item !== null))
  const { success, data, error } = FrontMatter.safeParse(given)
  if (success) return { ok: true, fields: data }
  const [{ path, message } = { path: [], message: 'invalid' }] = error.issues
  return { ok: false, reason: `Front matter: ${path.join('.')}: ${message}` }
}

function readYaml(text: string): { ok: true; value: unknown } | { ok: false; reason: string } {
  const refused = (message: string) => ({
    ok: false as const,
    reason: `Front matter: ${message.split('\n')[0]?.replace(/:$/, '')}`,
  })
  try {
    const document = parseDocument(text, { logLevel: 'error' })
    const [fault] = document.errors
    return fault ? refused(fault.message) : { ok: true, value: document.toJS({ maxAliasCount: MAX_ALIASES }) }
  } catch (error) {
    // Too many aliases, or nesting too deep for the stack: the parser throws for these, and lists syntax errors
    // elsewhere.
    return refused(error instanceof Error ? error.message : 'cannot be read')
  }
}
