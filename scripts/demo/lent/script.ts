// The scripted model's work on a package: clones it, breaks it, installs the requirements of its tests, sees them fail, repairs it, sees
// them pass, commits, pushes, and opens a pull request. Its answers depend on the outputs of its tools.

import type { Respond } from '../../../test/support/scripted-model.ts'
import type { ScriptedReply } from '../../../test/support/scripted-model-orders.ts'
import type { Repository } from './packages.ts'

export const BRANCH = 'mended'
export const COMMIT = 'Say what was mended'

const bash = (command: string, timeout?: number) => ({
  name: 'execute_bash',
  arguments: { command, ...(timeout === undefined ? {} : { timeout }) },
})

type Step = ScriptedReply & { needs?: RegExp }

function stepsFor(repository: Repository): Step[] {
  return [...breaking(repository), ...mending(repository), ...handingIn()]
}

function breaking({ url, main }: Repository): Step[] {
  return [
    { text: 'I get the repository.', calls: [bash(`git clone -q ${url} work && cd work && git log --oneline`)] },
    {
      needs: /As it was published/,
      text: 'I break it, to see whether its tests would notice.',
      calls: [
        bash(
          `git checkout -q -b ${BRANCH} && sed -i '1i throw new Error("broken on purpose")' ${main} && head -n 1 ${main}`,
        ),
      ],
    },
    {
      needs: /broken on purpose/,
      text: 'The tests need packages.',
      calls: [
        bash(
          'npm install --no-audit --no-fund --no-package-lock --loglevel=error; echo "installing ended with $?"',
          300,
        ),
      ],
    },
  ]
}

function mending({ main }: Repository): Step[] {
  return [
    { needs: /installing ended with 0/, calls: [bash('npm test; echo "tests ended with $?"', 120)] },
    {
      needs: /tests ended with [1-9]/,
      text: 'They fail, as they should. I mend it.',
      calls: [bash(`sed -i 1d ${main} && echo '// Looked at, broken and mended.' >> ${main} && git diff --stat`)],
    },
    { needs: /1 insertion/, calls: [bash('npm test; echo "tests ended with $?"', 120)] },
  ]
}

function handingIn(): Step[] {
  return [
    {
      needs: /tests ended with 0/,
      text: 'All pass.',
      calls: [
        bash(
          `git -c user.name=Robin -c user.email=robin@example.com commit -q -a -m '${COMMIT}' && git push -q origin ${BRANCH}; echo "pushed: $?"; git status --porcelain`,
        ),
      ],
    },
    {
      needs: /pushed: 0/,
      calls: [
        {
          name: 'create_pr',
          arguments: {
            repo_name: 'ann/tools',
            source_branch: BRANCH,
            target_branch: 'main',
            title: COMMIT,
            draft: false,
          },
        },
      ],
    },
    {
      needs: /pull\/17/,
      calls: [{ name: 'finish', arguments: { message: 'Broken, mended, tested, pushed; a pull request is open.' } }],
    },
  ]
}

type Message = { role: string; content?: unknown }

/** Follows the repository that the task names. */
export function workerOn(repositories: readonly Repository[]): Respond {
  return ({ body, answersSoFar }) => {
    const { messages = [] } = body as { messages?: Message[] }
    const asked = JSON.stringify(messages.filter(({ role }) => role === 'user'))
    const repository = repositories.find(({ url }) => asked.includes(url))
    const outcome = JSON.stringify(messages.findLast(({ role }) => role === 'tool')?.content ?? '')
    const step = repository === undefined ? undefined : stepsFor(repository)[answersSoFar]
    if (step === undefined || step.needs?.test(outcome) === false) {
      return { text: `I did not expect this, and stop here: ${outcome.slice(0, 800)}` }
    }
    const { needs: _, ...reply } = step
    return reply
  }
}

export const taskOf = ({ url }: Repository): string =>
  `Look at ${url}: break it, mend it, test it, and open a pull request.`
