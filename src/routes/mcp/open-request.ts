// Runs a request tool with the asker's stored token, and notes its number in the conversation that the call names.

import type { Context } from 'hono'
import { conversation } from '../../bindings.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { AppError } from '../../http/errors.ts'
import { CONVERSATION_HEADERS } from '../../mcp/remote-server.ts'
import { type RequestTool, requestAnswer } from '../../mcp/request-tools.ts'
import type { ToolAnswer } from '../../mcp/serve.ts'
import { CONVERSATION_ID } from '../conversations/schemas.ts'
import { isUnused } from '../conversations/unused-ids.ts'
import { askAll, demandAccounts } from '../conversations/user-providers.ts'

export async function openRequest(c: Context<AppEnv>, tool: RequestTool, args: unknown): Promise<ToolAnswer> {
  const { provider } = tool
  try {
    const accounts = await demandAccounts(c, `No ${provider} token is stored.`, provider)
    const { answers, failures } = await askAll(c, accounts, (asked) => asked.openRequest(tool.newRequest(args)))
    const opened = answers[0]?.value ?? { failure: failures[0]?.sentence ?? 'it did not answer' }
    if ('ok' in opened && opened.ok) await note(c, opened.number)
    return requestAnswer(provider, opened)
  } catch (error) {
    if (error instanceof AppError) return { ok: false, message: error.message }
    throw error
  }
}

/** A conversation that the asker does not have is nothing to note it in. */
async function note(c: Context<AppEnv>, number: number): Promise<void> {
  const id = CONVERSATION_HEADERS.map((name) => c.req.header(name)).find(Boolean)
  if (id === undefined || !CONVERSATION_ID.test(id)) return
  const { owner } = c.get('principal')
  if (!(await isUnused(c.env, owner, id))) await conversation(c.env, owner, id).addPullRequest(number)
}
