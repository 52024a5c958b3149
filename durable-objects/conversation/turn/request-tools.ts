// The tools that open pull and merge requests: they use the owner's stored tokens and note the number in the
// conversation.

import { mcpTools } from '../../../src/agent/tools/mcp.ts'
import type { Tool } from '../../../src/agent/tools/tool.ts'
import { config } from '../../../src/config.ts'
import { ownerProviderTokens } from '../../../src/db/provider-tokens.ts'
import { askProvider, requestDeps } from '../../../src/git-providers/index.ts'
import type { Family } from '../../../src/git-providers/provider.ts'
import { REQUEST_TOOLS, type RequestTool, requestAnswer, requestToolListing } from '../../../src/mcp/request-tools.ts'
import { checkedArguments, type ToolAnswer } from '../../../src/mcp/serve.ts'
import { resultOf } from '../../../src/mcp/tool-result.ts'
import type { TurnHost } from './turn-host.ts'

type RequestHost = Pick<TurnHost, 'env' | 'notePullRequest'> & {
  readonly record: { readonly value: { readonly owner: string } }
  /** Contains each stored provider token as `<PROVIDER>_TOKEN`. */
  readonly secrets: { readonly variables: Readonly<Record<string, string>> }
}

/** One tool for each provider for which the owner has a token. */
export function requestTools(host: RequestHost): Tool[] {
  const hasToken = (provider: Family) => Object.hasOwn(host.secrets.variables, `${provider.toUpperCase()}_TOKEN`)
  const offered = REQUEST_TOOLS.filter(({ provider }) => hasToken(provider))
  return mcpTools(requestToolListing(offered), async ({ name }, args, { signal }) => {
    const tool = offered.find((each) => each.name === name)
    const answer = tool === undefined ? failed(`There is no tool ${name}`) : await open(host, tool, { args, signal })
    const text = answer.ok ? answer.text : answer.message
    return resultOf({ content: [{ type: 'text', text }], isError: !answer.ok })
  })
}

const failed = (message: string): ToolAnswer => ({ ok: false, message })

async function open(
  { env, record, notePullRequest }: RequestHost,
  tool: RequestTool,
  { args, signal }: { args: unknown; signal: AbortSignal },
): Promise<ToolAnswer> {
  const checked = checkedArguments(tool, args)
  if (!checked.ok) return checked
  const { provider } = tool
  const stored = await ownerProviderTokens(env, record.value.owner)
  if (!stored.ok) return failed('The stored tokens cannot be opened; the user has to store them anew.')
  const found = stored.tokens.find((token) => token.provider === provider)
  if (found === undefined) return failed(`No ${provider} token is stored.`)
  const account = { provider, token: found.token, host: found.host }
  const outcome = await askProvider(account, requestDeps(config(env), signal), (asked) =>
    asked.openRequest(tool.newRequest(checked.args)),
  )
  const opened = outcome.ok ? outcome.value : { failure: outcome.failure.sentence }
  if ('ok' in opened && opened.ok) notePullRequest(opened.number)
  return requestAnswer(provider, opened)
}
