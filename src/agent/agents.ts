/** The agents that really run here, sorted. Settings may store any name; an unknown one runs as the default. */
export const AGENTS = ['CodeActAgent', 'ReadOnlyAgent', 'ShellAgent'] as const
export type AgentName = (typeof AGENTS)[number]

/** What was chosen for one conversation in place of what the settings say; null where nothing was. */
export type AgentChoice = { agent: AgentName | null; model: string | null }

const DEFAULT_AGENT = 'CodeActAgent'

/**
 * The agent that runs: the wanted one with a model, and with a recording, which the shell could not play; without both only the shell can. `isUnknown` when the wanted one does not exist here and the user is to be told so.
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
