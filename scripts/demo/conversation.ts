import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ROOT } from '../start/paths.ts'
import { Follower, type SeenEvent } from './follower.ts'
import { ask } from './http.ts'
import { OUTPUT } from './main.ts'
import { demand, quote, say } from './print.ts'

const SEARCH = `echo "The word 'event' by file:"
grep -ic event *.md | sort -t: -k2 -rn | head -5`

const WRITE = `{
  echo '# Findings'
  for f in *.md; do echo "- $f has $(wc -l < "$f") lines"; done
} > findings.md
export FOUND=$(grep -c '^- ' findings.md)`

const READ = `echo "$FOUND files were counted:"; cat findings.md`

export type DemoConversation = { path: string; events: SeenEvent[]; findings: string }

export async function showConversation(url: string): Promise<DemoConversation> {
  const { conversation_id: id } = await ask<{ conversation_id: string }>(`${url}/api/conversations`, { json: {} })
  const path = `/api/conversations/${id}`
  say(`Conversation ${id}`)
  await upload(`${url}${path}`)

  const follower = new Follower(`${url}${path}/ws`, show)
  await follower.connect()
  await run(follower, SEARCH, 1)

  say('\n  … the socket is dropped while the agent works on …')
  follower.send({ ref: 'write', action: 'message', args: { content: WRITE } })
  await follower.until('the agent to begin', (seen) => seen.at(-1)?.action !== undefined && runs(seen) === 1)
  follower.drop()
  const before = follower.lastId
  await ask(`${url}${path}/events`, { json: { action: 'message', args: { content: READ } } })
  await new Promise((resolve) => setTimeout(resolve, 500))
  say(`  … and comes back with "I have everything up to event ${before}" …\n`)
  await follower.connect()
  await follower.until('both answers', (seen) => runs(seen) === 3 && isWaiting(seen))

  const { events } = await ask<{ events: SeenEvent[] }>(`${url}${path}/events?limit=100`)
  demand(
    JSON.stringify(events) === JSON.stringify(follower.seen),
    `both sockets together saw all ${events.length} events once`,
  )
  follower.drop()
  const { code } = await ask<{ code: string }>(`${url}${path}/select-file?file=findings.md`)
  writeFileSync(join(OUTPUT, 'findings.md'), code)
  return { path, events, findings: code }
}

/** The same conversation after the restart. */
export async function continueConversation(url: string, { path, events, findings }: DemoConversation): Promise<void> {
  const again = await ask<{ events: SeenEvent[] }>(`${url}${path}/events?limit=100`)
  demand(JSON.stringify(again.events) === JSON.stringify(events), `all ${events.length} events are still there`)
  const { code } = await ask<{ code: string }>(`${url}${path}/select-file?file=findings.md`)
  demand(code === findings, 'the file that the agent wrote is still there')
  const follower = new Follower(`${url}${path}/ws`, (event) => {
    if (event.id >= events.length) show(event)
  })
  await follower.connect()
  await follower.until('the history', (seen) => seen.length >= events.length)
  const before = runs(follower.seen)
  follower.send({ action: 'message', args: { content: 'echo "FOUND is still $FOUND"' } })
  await follower.until('an answer', (seen) => runs(seen) === before + 1 && isWaiting(seen))
  demand(/still \d+/.test(lastOutput(follower.seen)), 'the shell still has its variables')
  follower.drop()
}

async function upload(conversation: string): Promise<void> {
  const docs = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))
  const files = ['README.md', 'ARCHITECTURE.md', ...docs.map((name) => join('docs', name))]
  const form = new FormData()
  for (const file of files) form.append('files', new File([readFileSync(join(ROOT, file))], basename(file)))
  type Report = { uploaded_files: string[]; skipped_files: unknown[] }
  const report = await ask<Report>(`${conversation}/upload-files`, { method: 'POST', body: form })
  demand(report.uploaded_files.length === files.length, `all ${files.length} documents of the project were uploaded`)
}

async function run(follower: Follower, script: string, answers: number): Promise<void> {
  follower.send({ action: 'message', args: { content: script } })
  await follower.until('an answer', (seen) => runs(seen) === answers && isWaiting(seen))
}

const runs = (seen: SeenEvent[]) => seen.filter(({ observation }) => observation === 'run').length

const lastOutput = (seen: SeenEvent[]) => seen.findLast(({ observation }) => observation === 'run')?.content ?? ''

function isWaiting(seen: SeenEvent[]): boolean {
  const state = seen.findLast(({ observation }) => observation === 'agent_state_changed')
  return state?.extras?.agent_state === 'awaiting_user_input'
}

function show(event: SeenEvent): void {
  if (event.action === 'message' && event.source === 'user') return
  if (event.action === 'run') {
    say(`  ${event.id}  $`)
    quote(event.args?.command ?? '')
  } else if (event.observation === 'run') {
    say(`  ${event.id}  exit code ${event.extras?.metadata?.exit_code}`)
    if (event.content) quote(event.content, 8)
  } else if (event.observation === 'error') {
    say(`  ${event.id}  ${event.content}`)
  }
}
