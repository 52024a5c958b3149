// The agent's shell, as a command of a conversation: the interpreter by a long loop, the workspace by many small files, and
// a search through them. The baseline is a process of the real bash that runs the same script in a folder.

import type { BashCalls } from '../bash-process.ts'
import { type Conversation, runCommand, startConversation } from '../conversation.ts'
import type { Measurement, Sample } from '../rounds.ts'
import type { Stage } from '../stage.ts'

const ECHOES = 100_000
const NEW_FILES = 10_000
const SEARCHED_FILES = 2_000
const FOLDERS = 40

type Job = {
  script: string
  /** Makes room for the next time, untimed. */
  clear?: string
  /** What a right answer holds. */
  holds: string
}

export async function longLoop(stage: Stage): Promise<Measurement[]> {
  const job: Job = { script: `for i in $(seq 1 ${ECHOES}); do echo $i; done`, holds: String(ECHOES) }
  const sides = await bothSides(stage, job)
  return [{ row: 'shell-loop', what: `a loop of ${ECHOES} echos`, unit: 'ms', ...sides }]
}

export async function manyFiles(stage: Stage): Promise<Measurement[]> {
  const job: Job = {
    script: `mkdir many; for i in $(seq 1 ${NEW_FILES}); do echo "line $i" > many/f$i.txt; done; ls many | wc -l`,
    clear: 'rm -r many',
    holds: String(NEW_FILES),
  }
  const sides = await bothSides(stage, job)
  const what = `${NEW_FILES} small files written by one script`
  return [{ row: 'shell-files', what, unit: 'ms', ...sides }]
}

export async function recursiveSearch(stage: Stage): Promise<Measurement[]> {
  const each = SEARCHED_FILES / FOLDERS
  const setup = `body=$(seq 1 40 | sed 's/^/line /; s/$/ of a file/')
for d in $(seq 0 ${FOLDERS - 1}); do mkdir -p tree/d$d; for i in $(seq 1 ${each}); do
f=tree/d$d/f$i.txt; printf '%s\\n%s\\n' "$body" $f > $f; done; done`
  const job: Job = { script: 'grep -rn "d7/f" tree | sort | tail -n 1', holds: 'tree/d7/f9.txt:41:tree/d7/f9.txt' }
  const sides = await bothSides(stage, job, setup)
  const what = `grep -rn over ${SEARCHED_FILES} files`
  return [{ row: 'shell-grep', what, unit: 'ms', ...sides }]
}

type Sides = Pick<Measurement, 'ours' | 'baseline'>

async function bothSides(stage: Stage, job: Job, setup = ':'): Promise<Sides> {
  const bash = stage.startProgram<BashCalls>('bash-process.ts')
  const conversation = await startConversation(stage)
  await runCommand(conversation, setup)
  await bash.call('run', setup)
  const baseline = async (): Promise<Sample> => {
    const { ms, output } = await bash.call('run', job.script)
    assertHolds(output, job)
    if (job.clear) await bash.call('run', job.clear)
    return { value: ms, clientCpu: null, serverMicros: null, waited: null }
  }
  return { ours: () => ourSample(stage, conversation, job), baseline }
}

async function ourSample({ measured, worker }: Stage, conversation: Conversation, job: Job): Promise<Sample> {
  const sample = await measured(worker, async () => {
    const startedAt = performance.now()
    assertHolds(await runCommand(conversation, job.script), job)
    return { value: performance.now() - startedAt, requests: 1, clientCpu: null }
  })
  if (job.clear) await runCommand(conversation, job.clear)
  return sample
}

function assertHolds(output: string, { script, holds }: Job): void {
  if (!output.includes(holds)) throw new Error(`${script}: ${output.slice(0, 500)}`)
}
