// The program that the agent finds, and the model that repairs it: a server on loopback that speaks like any other and has
// its answers from here. What it answers depends on what its tools told it; everything else is the service's.

import type { Respond } from '../../test/support/scripted-model.ts'
import type { ScriptedReply } from '../../test/support/scripted-model-orders.ts'

export const FOLDER = '/workspace/statistics'

const PROGRAM = `// The middle value of some numbers; of two middle ones, what lies between them.
export function median(numbers) {
  const sorted = [...numbers].sort()
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
`

const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { median } from './median.js'

test('of one number it is that number', () => {
  assert.equal(median([7]), 7)
})

test('of an odd count it is the one in the middle', () => {
  assert.equal(median([10, 9, 1]), 9)
})

test('of an even count it lies between the two in the middle', () => {
  assert.equal(median([100, 20, 3, 1]), 11.5)
})
`

/** Makes the repository, with the fault in it. */
export const PREPARE = `mkdir -p ${FOLDER} && cd ${FOLDER}
git init -q && git config user.name Robin && git config user.email robin@example.com
cat > package.json <<'END'
{ "name": "statistics", "type": "module" }
END
cat > median.js <<'END'
${PROGRAM}END
cat > median.test.js <<'END'
${TEST}END
git add -A && git commit -q -m "Add the median" && git log --oneline`

export const TASK = `The tests in ${FOLDER} fail. Find out why, repair the program, and commit what you changed.`

export const TEST_COMMAND = `cd ${FOLDER} && node --test`

const bash = (command: string) => ({ name: 'execute_bash', arguments: { command } })
const edit = (args: Record<string, unknown>) => ({ name: 'str_replace_editor', arguments: args })

/** The text and the call of each step, and what its outcome must contain before the next step. */
const STEPS: readonly (ScriptedReply & { needs?: RegExp })[] = [
  {
    text: 'First I look at the program.',
    calls: [edit({ command: 'view', path: `${FOLDER}/median.js` })],
  },
  {
    needs: /\.sort\(\)/,
    text: 'Now I see what its tests say.',
    calls: [bash(TEST_COMMAND)],
  },
  {
    needs: /fail [1-9]/,
    text: 'Without a comparison, sort() compares texts: "10" stands before "9". I compare the numbers themselves.',
    calls: [
      edit({
        command: 'str_replace',
        path: `${FOLDER}/median.js`,
        old_str: '[...numbers].sort()',
        new_str: '[...numbers].sort((a, b) => a - b)',
      }),
    ],
  },
  { needs: /a - b/, text: 'The tests once more.', calls: [bash(TEST_COMMAND)] },
  {
    needs: /fail 0/,
    text: 'They pass. I commit the change.',
    calls: [bash(`cd ${FOLDER} && git commit -q -a -m "Sort numbers as numbers" && git log --oneline`)],
  },
  {
    needs: /Sort numbers as numbers/,
    calls: [
      {
        name: 'finish',
        arguments: { message: 'median() sorted its numbers as texts. It compares them now, and all tests pass.' },
      },
    ],
  },
]

type Message = { role: string; content?: unknown }

/** The number of previous answers selects the step, so a repeated request gets the same answer. */
export const repairer: Respond = ({ body, answersSoFar }) => {
  const { messages = [] } = body as { messages?: Message[] }
  const outcome = JSON.stringify(messages.findLast(({ role }) => role === 'tool')?.content ?? '')
  const step = STEPS[answersSoFar]
  const pace = { chunkChars: 6, chunkDelayMs: 20 }
  if (step === undefined || step.needs?.test(outcome) === false) {
    return { text: `I did not expect this, and stop here: ${outcome.slice(0, 500)}`, ...pace }
  }
  const { needs: _, ...reply } = step
  return { ...reply, ...pace }
}

/** What has the service ask it; all that a user may have set for other models is out of the way. */
export const modelVariables = (url: string): Record<string, string | undefined> => ({
  LLM_MODEL: 'openai/scripted',
  LLM_BASE_URL: `${url}/demo/v1`,
  LLM_API_KEY: 'sk-scripted',
  LLM_FALLBACK_MODELS: undefined,
  LLM_TOOL_CALLS: undefined,
})
