/** The groups of the document, in the order in which it shows them. */
export const TAGS = {
  Health: 'Whether the service answers. Needs no key.',
  Session: 'Signing a browser in and out.',
  Keys: 'Issuing and revoking API keys.',
  Usage: 'What an owner has of everything that is limited.',
  Audit: 'Who changed what.',
  Options: 'What settings can name.',
  Conversations: 'Making, listing, starting and stopping conversations.',
  Events: 'What happened in a conversation, and what a user adds to it.',
  Workspace: 'The files of a conversation.',
  Git: 'What changed in the repositories of a workspace.',
  'Conversation extras': 'What else clients ask of a conversation.',
  Security: 'Which actions of an agent wait for the user.',
  Settings: 'Settings and tokens of git providers.',
  Secrets: 'Named values for the shell of the conversations.',
  'Git providers': 'Repositories, branches and microagents that the stored tokens reach.',
  'Tool server': 'The service as a server of the Model Context Protocol.',
  Analysis: 'Analysing stocks and reviewing markets.',
  'Analysis tasks': 'The queue, its tasks, and what happens to them.',
  'Analysis history': 'Stored reports.',
  Stocks: 'Quotes, bars and names.',
  Watchlists: 'Groups of stocks.',
  Schedules: 'Analyses that run by themselves.',
  Notifications: 'Where reports are sent, and what became of it.',
} as const

export type Tag = keyof typeof TAGS
