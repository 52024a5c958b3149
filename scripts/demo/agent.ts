import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FOLDER, PREPARE, TASK, TEST_COMMAND } from './agent-script.ts'
import { Follower, type SeenDelta, type SeenEvent } from './follower.ts'
import { ask } from './http.ts'
import { OUTPUT } from './main.ts'
import { demand, quote, say } from './print.ts'

/** A failing program in a repository of the workspace: the agent looks, tests, edits, tests again and commits. */
export async function showAgent(url: string): Promise<void> {
  const { conversation_id: id } = await ask<{ conversation_id: string }>(`${url}/api/conversations`, { json: {} })
  const path = `/api/conversations/${id}`
  say(`Conversation ${id}`)
  const screen = new Screen()
  const follower = new Follower(
    `${url}${path}/ws`,
    (event) => screen.event(event),
    (delta) => screen.delta(delta),
  )
  await follower.connect()

  say('\nA user makes a small repository in the workspace, with a fault in it …')
  await runAsUser(follower, PREPARE)

  say(`\n… and asks: ${TASK}\n`)
  screen.isOn = true
  follower.send({ action: 'message', args: { content: TASK } })
  await follower.until('the end of the turn', (seen) => endOf(seen) !== null)
  screen.isOn = false
  const { state, reason } = endOf(follower.seen) ?? {}
  say('')
  demand(state === 'finished', `the agent finished its task${state === 'finished' ? '' : `, not: ${state} ${reason}`}`)
  demand(screen.deltas > 20, 'what the model wrote was shown while it wrote it')
  const tests = follower.seen.filter((event) => event.observation === 'run' && event.source === 'agent')
  const codes = tests.flatMap(({ content = '', extras }) =>
    /fail \d/.test(content) ? [extras?.metadata?.exit_code] : [],
  )
  demand(JSON.stringify(codes) === '[1,0]', 'the agent saw the tests fail, and pass after its change')
  await verify(follower, `${url}${path}`)
  follower.drop()
}

/** Verifies the results independently of the agent's own statements. */
async function verify(follower: Follower, conversation: string): Promise<void> {
  const test = await runAsUser(follower, TEST_COMMAND)
  demand(test.exitCode === 0 && /pass 3/.test(test.output), 'all three tests pass when the user runs them')
  const status = await runAsUser(follower, `cd ${FOLDER} && git status --porcelain && git log --format=%s`)
  demand(
    status.output.trim() === 'Sort numbers as numbers\nAdd the median',
    'the change is committed, and nothing else is',
  )
  const { output: diff } = await runAsUser(follower, `cd ${FOLDER} && git diff HEAD~1 HEAD`)
  say('\nWhat the agent changed:\n')
  quote(diff, 40)
  demand(diff.includes('+  const sorted = [...numbers].sort((a, b) => a - b)'), 'the diff shows the repair')
  writeFileSync(join(OUTPUT, 'agent.diff'), `${diff.trimEnd()}\n`)
  type Trajectory = { trajectory: unknown[] | null }
  const trajectory = await ask<Trajectory>(`${conversation}/trajectory`)
  writeFileSync(join(OUTPUT, 'agent-trajectory.json'), `${JSON.stringify(trajectory, null, 2)}\n`)
}

async function runAsUser(
  follower: Follower,
  command: string,
): Promise<{ output: string; exitCode: number | undefined }> {
  const before = follower.lastId
  const outcomeIn = (seen: SeenEvent[]) =>
    seen.find(({ id, source, observation }) => id > before && source === 'user' && observation === 'run')
  follower.send({ action: 'run', args: { command } })
  await follower.until('the outcome of a command', (seen) => outcomeIn(seen) !== undefined)
  const outcome = outcomeIn(follower.seen)
  return { output: outcome?.content ?? '', exitCode: outcome?.extras?.metadata?.exit_code }
}

const RUNNING: ReadonlySet<string> = new Set(['loading', 'running'])

/** The state in which the turn of the newest message came to rest. */
function endOf(seen: SeenEvent[]): { state: string; reason: string } | null {
  const begun = seen.findLastIndex(({ action, source }) => action === 'message' && source === 'user')
  const newest = seen.slice(begun).findLast(({ observation }) => observation === 'agent_state_changed')
  const { agent_state: state = 'running', reason = '' } = newest?.extras ?? {}
  return begun < 0 || RUNNING.has(state) ? null : { state, reason }
}

/** Prints a turn live: the model's text as it arrives, then each action, then its outcome. */
class Screen {
  isOn = false
  deltas = 0
  #isMidLine = false

  delta({ kind, text }: SeenDelta): void {
    this.deltas += 1
    if (!this.isOn || kind !== 'text') return
    process.stdout.write(text)
    this.#isMidLine = true
  }

  event({ id, source, action, observation, content = '', args, extras }: SeenEvent): void {
    if (!this.isOn || source !== 'agent') return
    if (this.#isMidLine) say('')
    this.#isMidLine = false
    if (action === 'run') this.#step(id, `$ ${args?.command ?? ''}`)
    else if (action === 'read') this.#step(id, `view ${args?.path}`)
    else if (action === 'edit') this.#step(id, `edit ${args?.path}`)
    else if (action === 'finish') this.#step(id, `finish: ${args?.final_thought ?? ''}`)
    else if (observation === 'edit') quote(extras?.diff ?? content, 12)
    else if (observation === 'run') quote(`${content}\n[exit code ${extras?.metadata?.exit_code}]`, 40)
    else if (observation === 'read' || observation === 'error') quote(content, 12)
  }

  #step(id: number, what: string): void {
    say(`  ${id}  ${what}`)
  }
}
