// The schemas of an owner's archive: an import validates every line with one of them.

import { z } from 'zod'
import { AGENTS } from '../../../src/agent/agents.ts'
import { RUNTIME_KINDS } from '../../../src/agent/runtime.ts'

const FORMAT = 'bellwether-export'
export const VERSION = 1

/** The archive is not ours, or it is damaged. The message is for its owner. */
export class ArchiveProblem extends Error {}

const short = z.string().max(1_000)

/**
 * A valid name or link target in a workspace. Malformed UTF-16 would change when it is stored, so that two different
 * names could become the same.
 */
const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0')

export const ArchiveHeader = z.object({
  format: z.literal(FORMAT),
  version: z.int(),
  id: z.string().regex(/^[0-9a-f]{32}$/),
  owner: z.string().min(1).max(200),
  created_at: short,
})

export const ListedEntry = z.object({ path: z.string(), bytes: z.int().min(0), sha256: z.string() })
export const Manifest = ArchiveHeader.extend({
  lists: z.array(ListedEntry).max(100_000),
  /** Conversations that were deleted during the export; they are incomplete. */
  counts: z.object({ gone: z.array(z.string()).max(100_000).optional() }).optional(),
})

export const SecretToGive = z.object({ kind: z.enum(['secret', 'token', 'channel', 'setting', 'key']), name: short })
export type SecretToGive = z.infer<typeof SecretToGive>

export const ConversationInArchive = z.object({
  id: z.string(),
  title: short,
  trigger: short.nullable(),
  createdAt: z.iso.datetime(),
  titledAt: short.nullable(),
  instructions: z.string().max(1_000_000),
  prNumbers: z.array(z.int()).max(1_000).optional(),
  repository: z
    .object({
      name: short,
      url: z.string().max(4_000),
      branch: short.nullable(),
      provider: short.nullable(),
    })
    .nullable(),
  agent: z.enum(AGENTS).optional(),
  choice: z.object({ agent: z.enum(AGENTS).nullable(), model: short.nullable() }).optional(),
  runtime: z
    .object({
      kind: z.enum(RUNTIME_KINDS),
      labels: z.array(short).max(100),
      image: short.nullable().optional(),
      unsynced: z.array(short).max(1_000).optional(),
    })
    .optional(),
  talk: z.object({ session: z.string().min(1).max(1_000) }).optional(),
  has_tool_servers: z.boolean(),
})
export type ConversationInArchive = z.infer<typeof ConversationInArchive>

/** An event is stored unchanged; these are the fields that the log reads. */
const eventHead = {
  id: z.int().min(0),
  timestamp: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  source: z.enum(['user', 'agent', 'environment']),
}
const anyRecord = z.record(z.string(), z.unknown())
export const EventInArchive = z.union([
  z.looseObject({ ...eventHead, action: short, args: anyRecord, observation: z.undefined().optional() }),
  z.looseObject({ ...eventHead, observation: short, extras: anyRecord, content: z.string() }),
])

export const StepInArchive = z.object({
  step: z.int().min(1),
  first_event: z.int().min(0),
  text: z.string().max(300_000),
  response_id: short,
  vendor: z.string().max(300_000).nullable(),
})

export const CallInArchive = z.object({
  key: z.int().min(1),
  step: z.int().min(1),
  call_id: z.string().min(1).max(200).refine(isStorable),
  name: z.string().max(200),
  arguments: z.string().max(600_000),
  state: z.enum(['queued', 'awaiting', 'confirmed', 'started', 'settled']),
  action_id: z.int().min(0).nullable(),
  observation_id: z.int().min(0).nullable(),
  answer: z.string().max(100_000).nullable(),
})

/** The longest name of common file systems, in bytes. */
const MOST_NAME_BYTES = 255

export const NodeInArchive = z
  .object({
    inode: z.int().min(1),
    parent: z.int().min(0),
    name: z.string().refine((name) => isStorable(name) && new TextEncoder().encode(name).length <= MOST_NAME_BYTES),
    kind: z.enum(['file', 'directory', 'symlink']),
    mode: z.int().min(0).max(0o7777),
    mtime: z.int(),
    size: z.int().min(0),
    target: z.string().max(4_096).refine(isStorable).nullable(),
  })
  .refine(({ inode, parent, name, kind }) =>
    inode === 1
      ? parent === 0 && name === '' && kind === 'directory'
      : parent >= 1 && name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name),
  )
  .refine(({ kind, target }) => (kind === 'symlink') === (target !== null))
export type NodeInArchive = z.infer<typeof NodeInArchive>

export const TurnInArchive = z.object({
  question: z.int().min(0),
  first: z.int().min(0),
  digest: short,
  codes: z.string().max(10_000),
  deadline: z.int(),
  ended: z.int().min(0).nullable(),
  answer: z.int().min(0).nullable(),
  failure: z.string().max(10_000).nullable(),
})
export type TurnInArchive = z.infer<typeof TurnInArchive>

/** The lines of an entry, each parsed with the shape. */
export function linesOf<T>(text: string, { path, shape }: { path: string; shape: z.ZodType<T> }): T[] {
  return rawLines(text).map((line, at) => {
    const read = shape.safeParse(jsonOf(line))
    if (read.success) return read.data
    const [issue] = read.error.issues
    const where = issue === undefined || issue.path.length === 0 ? '' : `: ${issue.path.join('.')}`
    throw new ArchiveProblem(`${path}, line ${at + 1}, is not what belongs there${where}`)
  })
}

export function rawLines(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Undefined when the text is not JSON: no shape accepts that. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
