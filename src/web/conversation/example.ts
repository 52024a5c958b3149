// An agent at work, for whoever has no model yet: a recorded conversation that the service plays again. What the actions bring is
// what really happens in the workspace of the new conversation.

const FOLDER = '/workspace/statistics'

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
import { median } from './median.js'

test('of one number it is that number', () => assert.equal(median([7]), 7))
test('of an odd count it is the one in the middle', () => assert.equal(median([10, 9, 1]), 9))
END
git add -A && git commit -q -m "Add the median" && git log --oneline`

const TEST = `cd ${FOLDER} && node --test`

const run = (command: string, thought: string) => ({ source: 'agent', action: 'run', args: { command, thought } })

/** The JSON text of the recorded events; `words` are in the language of the reader. */
export function exampleReplay(words: Record<'task' | 'prepare' | 'look' | 'why' | 'again' | 'commit' | 'end', string>) {
  return JSON.stringify([
    { source: 'user', action: 'message', args: { content: words.task } },
    run(PREPARE, words.prepare),
    run(TEST, words.look),
    {
      source: 'agent',
      action: 'edit',
      args: {
        command: 'str_replace',
        path: `${FOLDER}/median.js`,
        old_str: '[...numbers].sort()',
        new_str: '[...numbers].sort((a, b) => a - b)',
        thought: words.why,
      },
    },
    run(TEST, words.again),
    run(`cd ${FOLDER} && git commit -q -a -m "Sort numbers as numbers" && git log --oneline`, words.commit),
    { source: 'agent', action: 'finish', args: { final_thought: words.end } },
  ])
}
