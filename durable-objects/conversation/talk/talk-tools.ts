// The tools of a talk. They only read, and run in `AnalysisRunner`, which has the market code; this side knows only
// their names and schemas.

import { BadCall, type Tool } from '../../../src/agent/tools/tool.ts'
import { errorFields, log } from '../../../src/lib/log.ts'
import { MAX_TEXT_CHARS } from '../../../src/mcp/tool-result.ts'
import type { Brief, Talk } from './talk.ts'

type Host = { env: Env; owner: string; talk: Talk }

export function talkTools(host: Host): ReadonlyMap<string, Tool> {
  return new Map(host.talk.brief.tools.map((tool) => [tool.name, toolOf(tool, host)]))
}

/** Its events look like those of a remote tool, which every client can show. */
function toolOf({ name, description, parameters }: Brief['tools'][number], { env, owner, talk }: Host): Tool {
  return {
    name,
    description,
    // This service made the text and sent it with the message.
    parameters: JSON.parse(parameters) as Tool['parameters'],
    repeatable: true,
    hints: { isDestructive: false },
    prepare: (given) => {
      if (typeof given !== 'object' || given === null || Array.isArray(given)) {
        throw new BadCall(`The arguments of ${name} have to be a JSON object`)
      }
      const args = given as Record<string, unknown>
      return {
        action: {
          source: 'agent',
          message: `Calling tool: ${name}`,
          action: 'call_tool_mcp',
          args: { name, arguments: args, thought: '' },
        },
        run: async () => {
          const { language } = talk.brief
          const ask = { owner, language, tool: name, args: JSON.stringify(args), codes: talk.codes }
          const { text, isError, record } = await env.ANALYSIS_RUNNER.consult(ask)
          const content = [{ type: 'text', text: text.slice(0, MAX_TEXT_CHARS) }]
          return {
            source: 'agent',
            message: `Tool answered: ${name}`,
            observation: 'mcp',
            content: JSON.stringify({ meta: null, content, isError }),
            extras: { name, arguments: args, ...(isError ? {} : { record }) },
          }
        },
      }
    },
  }
}

/**
 * The answer with a mark at every figure that no tool result of the talk supports. If it could not be checked, the
 * answer says so.
 */
export async function checkedAnswer(text: string, { env, talk }: Host): Promise<string> {
  const { language, texts } = talk.brief
  try {
    return await env.ANALYSIS_RUNNER.checkAnswer({ text, results: talk.results(), language })
  } catch (error) {
    log.error('talk.not_checked', errorFields(error))
    return `${text}\n\n${texts.unchecked}`
  }
}
