/** The agents that really run here, sorted. Settings may store any name; an unknown one runs as the default. */
export const AGENTS = ['CodeActAgent', 'ReadOnlyAgent', 'ShellAgent'] as const
export type AgentName = (typeof AGENTS)[number]

/** What was chosen for one conversation instead of the settings; null where nothing was chosen. */
export type AgentChoice = { agent: AgentName | null; model: string | null }

const DEFAULT_AGENT = 'CodeActAgent'

/**
 * The agent that runs. The wanted one needs a model or a recording; without either only the shell agent can run.
 * `isUnknown`: the wanted agent does not exist here, and the user should be told.
 */
export function agentToRun(
  wanted: string | null,
  has: { model: boolean; recording: boolean },
): { agent: AgentName; isUnknown: boolean } {
  const known = AGENTS.find((name) => name === wanted)
  const isUnknown = wanted !== null && wanted !== '' && known === undefined
  const agent = known ?? DEFAULT_AGENT
  if (has.recording) return { agent: agent === 'ShellAgent' ? DEFAULT_AGENT : agent, isUnknown }
  return { agent: has.model ? agent : 'ShellAgent', isUnknown }
}
