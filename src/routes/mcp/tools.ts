import { z } from '@hono/zod-openapi'
import type { ServedTool, ToolAnswer } from '../../mcp/serve.ts'

// A tool that is one call of the HTTP interface. All checks, limits and filters of the interface apply to the tool too,
// because it sends the same request with the caller's credentials.

export type RestCall = {
  method: 'GET' | 'POST'
  path: string
  query?: Record<string, string | number | boolean | null | undefined>
  body?: unknown
}

export type RestTool = ServedTool & {
  callOf(args: Record<string, unknown>): RestCall
  /** The text of a successful answer; throws `ToolFailure` if there is none. */
  textOf(answer: unknown, args: Record<string, unknown>): string
}

/** A failure of a tool, with a text for the model. */
class ToolFailure extends Error {
  override readonly name = 'ToolFailure'
}

type Definition<S extends z.ZodObject> = Omit<ServedTool, 'input' | 'readOnly'> & {
  input: S
  call: (args: z.output<S>) => RestCall
  text?: (answer: unknown, args: z.output<S>) => string
}

/** A tool with typed arguments. The caller has validated them with `input`. */
function restTool<S extends z.ZodObject>({ call, text, ...told }: Definition<S>, readOnly: boolean): RestTool {
  return {
    ...told,
    readOnly,
    callOf: (args) => call(args as z.output<S>),
    textOf: (answer, args) => text?.(answer, args as z.output<S>) ?? JSON.stringify(answer),
  }
}

const conversationId = z
  .string()
  .regex(/^[\w-]{1,64}$/, 'Not an id of a conversation')
  .describe('The id of the conversation')

/** Any other id. Only dots would lead to another path. */
const recordId = z.string().max(200).regex(/[^.]/, 'Not an id')

/** An id as a part of a path. */
const part = (id: string): string => encodeURIComponent(id)

// Converts an answer of the HTTP interface to the answer of a tool.

/** More than a model can read at once; tools that may exceed it have parameters that limit the answer. */
const MAX_TEXT_CHARS = 400_000
const MAX_MESSAGE_CHARS = 2_000

const Item = z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() })
const ErrorBody = z.union([
  z.string(),
  z
    .object({
      detail: z.union([z.string(), z.array(Item).transform((items) => items.map(wordsOf).join('; '))]).catch(''),
      message: z.string(),
      error: z.string(),
    })
    .partial()
    .transform(({ detail, message, error }) => [message ?? error, detail].filter(Boolean).join('. ')),
])

function wordsOf({ loc, msg }: z.infer<typeof Item>): string {
  return `${loc.slice(1).join('.')}: ${msg}`
}

export async function toolAnswer(
  tool: RestTool,
  args: Record<string, unknown>,
  response: Response,
): Promise<ToolAnswer> {
  const body: unknown = JSON.parse(await response.text())
  if (!response.ok) return { ok: false, message: messageOf(body, response.status) }
  try {
    const text = tool.textOf(body, args)
    if (text.length <= MAX_TEXT_CHARS) return { ok: true, text }
    return { ok: false, message: `The answer has ${text.length} characters, which is too much. Ask for a part of it` }
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error
    return { ok: false, message: error.message }
  }
}

function messageOf(body: unknown, status: number): string {
  const { data = '' } = ErrorBody.safeParse(body)
  return (data || `The request failed with status ${status}`).slice(0, MAX_MESSAGE_CHARS)
}

const one = (id: string) => `/api/conversations/${part(id)}`
const conversation_id = conversationId

const listConversations = restTool(
  {
    name: 'list_conversations',
    title: 'List conversations',
    description: 'The conversations of the user, newest first. next_page_id is the page_id of the next page.',
    input: z.strictObject({
      limit: z.int().min(1).max(100).default(20),
      page_id: z.string().nullish(),
      selected_repository: z.string().nullish().describe('Only those of this repository'),
    }),
    call: (query) => ({ method: 'GET', path: '/api/conversations', query }),
  },
  true,
)

const createConversation = restTool(
  {
    name: 'create_conversation',
    title: 'Start a conversation',
    description: 'Starts a conversation with an agent that works in a workspace of its own, and answers with its id.',
    input: z.strictObject({
      initial_user_msg: z.string().nullish().describe('What the agent is to do'),
      repository: z.string().nullish().describe('owner/name or an http(s) URL, cloned into the workspace'),
      selected_branch: z.string().nullish(),
      git_provider: z.enum(['github', 'gitlab', 'bitbucket']).nullish(),
      conversation_instructions: z.string().nullish().describe('Instructions that the agent keeps to throughout'),
    }),
    call: (body) => ({ method: 'POST', path: '/api/conversations', body }),
  },
  false,
)

const getConversation = restTool(
  {
    name: 'get_conversation',
    title: 'Look at a conversation',
    description: 'The title, state, repository and pull requests of a conversation.',
    input: z.strictObject({ conversation_id }),
    call: (args) => ({ method: 'GET', path: one(args.conversation_id) }),
    text: (answer, args) => {
      // An unknown id is answered with null.
      if (answer === null) throw new ToolFailure(`Conversation ${args.conversation_id} not found`)
      return JSON.stringify(answer)
    },
  },
  true,
)

const startConversation = restTool(
  {
    name: 'start_conversation',
    title: 'Resume a conversation',
    description: 'Starts the agent of a conversation that was stopped; one that runs is left alone.',
    input: z.strictObject({ conversation_id }),
    call: (args) => ({ method: 'POST', path: `${one(args.conversation_id)}/start`, body: {} }),
  },
  false,
)

const sendMessage = restTool(
  {
    name: 'send_message',
    title: 'Send a message',
    description: 'Sends a message to the agent of a running conversation. It answers by events.',
    input: z.strictObject({
      conversation_id,
      content: z.string().min(1),
      image_urls: z.array(z.string()).nullish().describe('Images, as data: or https: URLs'),
    }),
    call: ({ conversation_id: id, content, image_urls }) => ({
      method: 'POST',
      path: `${one(id)}/events`,
      body: { action: 'message', args: { content, image_urls } },
    }),
    text: () => 'Sent',
  },
  false,
)

const readEvents = restTool(
  {
    name: 'read_events',
    title: 'Read events',
    description: 'Messages, commands and their outcomes of a conversation, in order; has_more tells of further ones.',
    input: z.strictObject({
      conversation_id,
      start_id: z.int().min(0).default(0).describe('The first id that is wanted'),
      end_id: z.int().min(0).nullish(),
      limit: z.int().min(1).max(100).default(20),
      reverse: z.boolean().default(false).describe('Newest first'),
      query: z.string().nullish().describe('Only events with this text'),
    }),
    call: ({ conversation_id: id, ...query }) => ({ method: 'GET', path: `${one(id)}/events`, query }),
  },
  true,
)

const listFiles = restTool(
  {
    name: 'list_files',
    title: 'List workspace files',
    description: 'One level of the workspace of a conversation; folders end in a slash.',
    input: z.strictObject({ conversation_id, path: z.string().nullish().describe('A folder; the root by default') }),
    call: (args) => ({ method: 'GET', path: `${one(args.conversation_id)}/list-files`, query: { path: args.path } }),
    text: (answer) => z.array(z.string()).parse(answer).join('\n'),
  },
  true,
)

const readFile = restTool(
  {
    name: 'read_file',
    title: 'Read a workspace file',
    description: 'A text file of the workspace of a conversation, or some of its lines.',
    input: z.strictObject({
      conversation_id,
      path: z.string().min(1),
      first_line: z.int().min(1).nullish().describe('Counted from 1'),
      last_line: z.int().min(1).nullish(),
    }),
    call: (args) => ({ method: 'GET', path: `${one(args.conversation_id)}/select-file`, query: { file: args.path } }),
    text: (answer, { first_line, last_line }) => {
      const { code } = z.object({ code: z.string() }).parse(answer)
      if (!first_line && !last_line) return code
      const lines = code.split('\n')
      return lines.slice((first_line ?? 1) - 1, last_line ?? lines.length).join('\n')
    },
  },
  true,
)

export const CONVERSATION_TOOLS: readonly RestTool[] = [
  listConversations,
  createConversation,
  getConversation,
  startConversation,
  sendMessage,
  readEvents,
  listFiles,
  readFile,
]

const MAX_STOCKS = 50

const searchStocks = restTool(
  {
    name: 'search_stocks',
    title: 'Search stocks',
    description: 'Stocks of China, Hong Kong, the US, Japan, Korea and Taiwan by code, name, pinyin or alias.',
    input: z.strictObject({
      query: z.string().min(1).max(100),
      limit: z.int().min(1).max(50).default(10),
      language: z.enum(['zh', 'en', 'ko']).nullish(),
    }),
    call: ({ query: q, limit, language }) => ({
      method: 'GET',
      path: '/api/v1/stocks/search',
      query: { q, limit, language },
    }),
  },
  true,
)

const submitAnalysis = restTool(
  {
    name: 'submit_analysis',
    title: 'Analyse stocks',
    description: 'Queues an analysis of each stock and answers with the ids of the tasks; see get_task and get_report.',
    input: z.strictObject({
      stocks: z.array(z.string().min(1)).min(1).max(MAX_STOCKS).describe('Codes or names'),
      report_type: z.enum(['simple', 'detailed', 'full', 'brief']).default('detailed'),
      report_language: z.enum(['zh', 'en', 'ko']).nullish(),
      force_refresh: z.boolean().default(false).describe('Whether to fetch market data anew'),
    }),
    call: ({ stocks, ...rest }) => ({
      method: 'POST',
      path: '/api/v1/analysis/analyze',
      body: { stock_codes: stocks, async_mode: true, ...rest },
    }),
  },
  false,
)

const getTask = restTool(
  {
    name: 'get_task',
    title: 'State of an analysis',
    description: 'How far an analysis is, and its result once it is completed.',
    input: z.strictObject({ task_id: recordId }),
    call: (args) => ({ method: 'GET', path: `/api/v1/analysis/status/${part(args.task_id)}` }),
  },
  true,
)

const getReport = restTool(
  {
    name: 'get_report',
    title: 'Read a report',
    description: 'The report of a completed analysis, as Markdown.',
    input: z.strictObject({ record_id: recordId.describe('The task id, or the id of the record') }),
    call: (args) => ({ method: 'GET', path: `/api/v1/history/${part(args.record_id)}/markdown` }),
    text: (answer) => z.object({ content: z.string() }).parse(answer).content,
  },
  true,
)

export const ANALYSIS_TOOLS: readonly RestTool[] = [searchStocks, submitAnalysis, getTask, getReport]
