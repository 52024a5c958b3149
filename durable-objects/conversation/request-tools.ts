// The tools that open pull and merge requests, as the agent runs them: with the owner's stored tokens, and the number noted
// in the conversation.

import { mcpTools } from '../../src/agent/tools/mcp.ts'
import type { Tool } from '../../src/agent/tools/tool.ts'
import { config } from '../../src/config.ts'
import { ownerProviderTokens } from '../../src/db/provider-tokens.ts'
import { askProvider, type Means } from '../../src/git-providers/index.ts'
import type { Family } from '../../src/git-providers/provider.ts'
import { REQUEST_TOOLS, type RequestTool, requestAnswer, requestToolListing } from '../../src/mcp/request-tools.ts'
import { checkedArguments, type ToolAnswer } from '../../src/mcp/serve.ts'
import { resultOf } from '../../src/mcp/tool-result.ts'

export type RequestParts = {
  env: Env
  owner: string
  /** Whether the owner has a token for the provider; without one its tool is not offered. */
  hasToken(provider: Family): boolean
  note(number: number): void
}

export function requestTools(parts: RequestParts): Tool[] {
  const offered = REQUEST_TOOLS.filter(({ provider }) => parts.hasToken(provider))
  return mcpTools(requestToolListing(offered), async ({ name }, args, signal) => {
    const tool = offered.find((each) => each.name === name)
    const answer = tool === undefined ? failed(`There is no tool ${name}`) : await open(tool, args, { parts, signal })
    const text = answer.ok ? answer.text : answer.message
    return resultOf({ content: [{ type: 'text', text }], isError: !answer.ok })
  })
}

const failed = (message: string): ToolAnswer => ({ ok: false, message })

async function open(
  tool: RequestTool,
  given: unknown,
  { parts, signal }: { parts: RequestParts; signal: AbortSignal },
): Promise<ToolAnswer> {
  const checked = checkedArguments(tool, given)
  if (!checked.ok) return checked
  const { provider } = tool
  const stored = await ownerProviderTokens(parts.env, parts.owner)
  if (!stored.ok) return failed('The stored tokens cannot be opened; the user has to store them anew.')
  const found = stored.tokens.find((token) => token.provider === provider)
  if (found === undefined) return failed(`No ${provider} token is stored.`)
  const account = { provider, token: found.token, host: found.host }
  const outcome = await askProvider(account, meansOf(parts.env, signal), (asked) =>
    asked.openRequest(tool.newRequest(checked.args)),
  )
  const opened = outcome.ok ? outcome.value : { failure: outcome.failure.sentence }
  if ('ok' in opened && opened.ok) parts.note(opened.number)
  return requestAnswer(provider, opened)
}

function meansOf(env: Env, signal: AbortSignal): Means {
  const { githubApiUrl, gitlabApiUrl, bitbucketApiUrl, addressPolicy, fetchTimeoutMs } = config(env)
  return {
    urls: { github: githubApiUrl, gitlab: gitlabApiUrl, bitbucket: bitbucketApiUrl },
    door: { policy: addressPolicy },
    timeoutMs: fetchTimeoutMs,
    deadlineMs: 2 * fetchTimeoutMs,
    signal,
  }
}
