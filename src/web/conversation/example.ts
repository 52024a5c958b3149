// An agent at work, for users without a model: a recorded conversation that the service replays. The actions are
// executed in the workspace of the new conversation, so their results are real.

import { say } from '../texts.ts'

const FOLDER = '/workspace/statistics'

/** At the start of a line it would be read as an import of this file. */
const IMPORT = 'import'

const PREPARE = `mkdir -p ${FOLDER} && cd ${FOLDER}
git init -q && git config user.name Robin && git config user.email robin@example.com
cat > package.json <<'END'
{ "name": "statistics", "type": "module" }
END
cat > median.js <<'END'
// The middle value of some numbers; of two middle ones, what lies between them.
export function median(numbers) {
  const sorted = [...numbers].sort()
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
END
cat > median.test.js <<'END'
import assert from 'node:assert/strict'
import { test } from 'node:test'
${IMPORT} { median } from './median.js'

test('of one number it is that number', () => assert.equal(median([7]), 7))
test('of an odd count it is the one in the middle', () => assert.equal(median([10, 9, 1]), 9))
END
git add -A && git commit -q -m "Add the median" && git log --oneline`

const TEST = `cd ${FOLDER} && node --test`

const run = (command: string, thought: string) => ({ source: 'agent', action: 'run', args: { command, thought } })

/** The JSON text of the recorded events, with its texts in the user's language. */
export const exampleReplay = (): string =>
  JSON.stringify([
    {
      source: 'user',
      action: 'message',
      args: { content: say('An example: the tests of a small program fail. Repair it.') },
    },
    run(PREPARE, say('This is a recording, so nobody has made the program yet. I make it first, with its fault.')),
    run(TEST, say('Now I see what its tests say.')),
    {
      source: 'agent',
      action: 'edit',
      args: {
        command: 'str_replace',
        path: `${FOLDER}/median.js`,
        old_str: '[...numbers].sort()',
        new_str: '[...numbers].sort((a, b) => a - b)',
      },
    },
    run(TEST, say('sort() compares texts unless it is told how: “10” stands before “9”. The tests once more.')),
    run(
      `cd ${FOLDER} && git commit -q -a -m "Sort numbers as numbers" && git log --oneline`,
      say('They pass. I commit the change.'),
    ),
    {
      source: 'agent',
      action: 'finish',
      args: {
        final_thought: say(
          'The median is right now. Look into the workspace, or give this conversation a model and go on.',
        ),
      },
    },
  ])
