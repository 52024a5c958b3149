/** The agents that really run here, sorted. Settings may store any name; an unknown one runs as the default. */
export const AGENTS = ['ShellAgent'] as const
export type AgentName = (typeof AGENTS)[number]
