// The first message of a conversation that starts from a suggested task: the pull request or issue, its problem, and what
// the user wants done.

export type SuggestedTask = {
  git_provider: string
  task_type: string
  repo: string
  issue_number: number
  title: string
}

/** The kinds that a conversation can start from. */
export const STARTING_TASKS = ['MERGE_CONFLICTS', 'FAILING_CHECKS', 'UNRESOLVED_COMMENTS', 'OPEN_ISSUE'] as const
export type StartingTask = (typeof STARTING_TASKS)[number]

type Host = { label: string; request: string; api: string; token: string }

const GITHUB: Host = {
  label: 'GitHub',
  request: 'pull request',
  api: 'the GitHub API',
  token: 'GITHUB_TOKEN',
}

const HOSTS: Readonly<Record<string, Host>> = {
  gitlab: { label: 'GitLab', request: 'merge request', api: 'the GitLab API', token: 'GITLAB_TOKEN' },
  bitbucket: { label: 'Bitbucket', request: 'pull request', api: 'the Bitbucket API', token: 'BITBUCKET_TOKEN' },
}

export function suggestedTaskPrompt(task: SuggestedTask): string {
  const host = HOSTS[task.git_provider] ?? GITHUB
  const number = `#${task.issue_number}`
  const [subject, steps] = WORK[task.task_type as StartingTask](host, number)
  return [
    `Work on ${subject} ("${oneLine(task.title)}") of the repository ${task.repo} on ${host.label}.`,
    `Use ${host.api} with the token in the environment variable ${host.token}; do not print the token.`,
    '',
    ...steps.map((step, at) => `${at + 1}. ${step}`),
  ].join('\n')
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 300)

const WORK: Readonly<Record<StartingTask, (host: Host, number: string) => [subject: string, steps: string[]]>> = {
  MERGE_CONFLICTS: ({ request }, number) => [
    `the merge conflicts of ${request} ${number}`,
    [
      `Read the ${request}: its description, its branch and the branch that it is to be merged into.`,
      `Check out the branch of the ${request} and look at the differences to its target branch.`,
      'Merge the target branch and resolve every conflict so that the intent of both sides is kept.',
      `Commit and push to the branch of the ${request}.`,
    ],
  ],
  FAILING_CHECKS: ({ request }, number) => [
    `the failing checks of ${request} ${number}`,
    [
      `Read the ${request} and find out which checks fail and how the project runs them.`,
      'Check out its branch and reproduce the failure locally as far as that is possible.',
      'Fix the cause, commit and push to the same branch.',
      'Ask for the state of the checks about every 30 seconds until they are done; if one still fails, begin again at 2.',
    ],
  ],
  UNRESOLVED_COMMENTS: ({ request }, number) => [
    `the unresolved comments of ${request} ${number}`,
    [
      `Read all review feedback of the ${request}, and what has been done about it since.`,
      'Check out its branch.',
      'Address every comment that is still open; where you disagree, say why instead of changing the code.',
      'Commit and push to the same branch.',
    ],
  ],
  OPEN_ISSUE: ({ request }, number) => [
    `issue ${number}`,
    [
      'Read the issue and all its comments.',
      'Make a new branch and work on it there; add a test when the project has tests.',
      'Commit and push the branch.',
      `Open a ${request} that names the issue, so that the issue is closed when it is merged.`,
    ],
  ],
}
