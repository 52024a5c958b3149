// P14 and P15: what changed in a working copy, and one changed file, against a process of the real git that is asked the
// same about the same files. Before every question files are written anew on both sides, so that neither answers from
// what it found out before; the writing is not timed.

import { type Conversation, runCommand as run, startConversation } from '../conversation.ts'
import type { GitCalls } from '../git-process.ts'
import type { PinnedProcess } from '../pinned-process.ts'
import { rawRequest } from '../requests.ts'
import type { Measurement, Sample } from '../rounds.ts'
import type { Stage } from '../stage.ts'
import { median } from '../stats.ts'

const FEW = 2_000
const MANY = 20_000
const FOLDERS = 40
const DIRTY = 10
const LINES = 2_000
/** Every so many lines of the large file one is changed. */
const CHANGED_EVERY = 100
/** In one slice. */
const QUESTIONS = 10

type Git = PinnedProcess<GitCalls>
type Pair = readonly [path: string, text: string]
/** The same repository in a conversation and in a folder of this machine. */
type Twins = { conversation: Conversation; folder: string; git: Git }

export async function gitChanges(stage: Stage): Promise<Measurement[]> {
  const git = stage.startProgram<GitCalls>('git-process.ts')
  const [few, many] = [await twinsOf(stage, git, FEW), await twinsOf(stage, git, MANY)]
  const ours = (twins: Twins) => () => sampled(stage, () => changes(stage, twins))
  const baseline = (twins: Twins) => () => sampled(stage, () => status(twins))
  const against = { row: 'P14', unit: 'ms' } as const
  return [
    { ...against, what: `git changes, ${DIRTY} of ${FEW} files`, ours: ours(few), baseline: baseline(few) },
    { ...against, what: `git changes, ${DIRTY} of ${MANY} files`, ours: ours(many), baseline: baseline(many) },
    {
      row: 'P14',
      what: `git changes among ${MANY} files by those among ${FEW}`,
      unit: 'ms',
      ours: ours(many),
      baseline: ours(few),
    },
  ]
}

export async function gitDiff(stage: Stage): Promise<Measurement[]> {
  const git = stage.startProgram<GitCalls>('git-process.ts')
  const twins = await twinsOf(stage, git, FEW)
  return [
    {
      row: 'P15',
      what: `both texts of a changed file of ${LINES} lines`,
      unit: 'ms',
      ours: () => sampled(stage, () => bothTexts(stage, twins)),
      baseline: () => sampled(stage, () => patch(twins)),
    },
  ]
}

async function sampled({ measured, worker }: Stage, question: () => Promise<number>): Promise<Sample> {
  return measured(worker, async () => {
    const times: number[] = []
    for (let i = 0; i < QUESTIONS; i++) times.push(await question())
    return { value: median(times), requests: null, clientCpu: null }
  })
}

/** Each question finds files that nothing was ever asked about. */
let version = 0

async function changes(stage: Stage, { conversation }: Twins): Promise<number> {
  await run(conversation, `for i in $(seq 0 ${DIRTY - 1}); do echo "changed ${++version}" > d$i/f$i.txt; done`)
  const { ms, body } = await timed(stage, `${conversation.path}/git/changes`)
  assertCount((JSON.parse(body) as unknown[]).length)
  return ms
}

async function status({ git, folder }: Twins): Promise<number> {
  const text = `changed ${++version}\n`
  const files = Array.from({ length: DIRTY }, (_, i): Pair => [`d${i}/f${i}.txt`, text])
  const { ms, output } = await git.call('ask', { folder, files, args: ['status', '--porcelain'] })
  assertCount(output.trimEnd().split('\n').length)
  return ms
}

function assertCount(found: number): void {
  if (found !== DIRTY) throw new Error(`${DIRTY} files were changed, ${found} were found`)
}

async function bothTexts(stage: Stage, { conversation }: Twins): Promise<number> {
  const mark = `version ${++version}`
  await run(conversation, `awk '{ print $0 (NR % ${CHANGED_EVERY} ? "" : " ${mark}") }' original.txt > large.txt`)
  const { ms, body } = await timed(stage, `${conversation.path}/git/diff?path=large.txt`)
  assertMark(body, mark)
  return ms
}

async function patch({ git, folder }: Twins): Promise<number> {
  const mark = `version ${++version}`
  const files: Pair[] = [['large.txt', largeText((line) => (line % CHANGED_EVERY === 0 ? ` ${mark}` : ''))]]
  const { ms, output } = await git.call('ask', { folder, files, args: ['diff', '--', 'large.txt'] })
  assertMark(output, mark)
  return ms
}

function assertMark(text: string, mark: string): void {
  if (text.split(mark).length - 1 !== LINES / CHANGED_EVERY) throw new Error('the answer lacks changed lines')
}

/** One request on an open connection, and then what it answers. */
async function timed({ client, worker }: Stage, path: string): Promise<{ ms: number; body: string }> {
  const request = rawRequest(worker, { method: 'GET', path }, worker.key)
  const { p50Ms: ms } = await client.call('load', { port: worker.port, request, connections: 1, durationMs: 0 })
  return { ms, body: await client.call('ask', { port: worker.port, request }) }
}

async function twinsOf(stage: Stage, git: Git, files: number): Promise<Twins> {
  const each = files / FOLDERS
  const body = Array.from({ length: LINES / 50 }, (_, i) => `line ${i + 1} of a file\n`).join('')
  const names = Array.from({ length: files }, (_, i) => `d${i % FOLDERS}/f${i}.txt`)
  const large = largeText(() => '')
  const folder = await git.call('make', [
    ...names.map((name): Pair => [name, `${body}${name}\n`]),
    ['original.txt', large],
    ['large.txt', large],
  ])
  const conversation = await startConversation(stage)
  await run(
    conversation,
    `body=$(seq 1 ${LINES / 50} | sed 's/^/line /; s/$/ of a file/')
for d in $(seq 0 ${FOLDERS - 1}); do mkdir d$d; for i in $(seq 0 ${each - 1}); do
f=d$d/f$((i * ${FOLDERS} + d)).txt; printf '%s\\n%s\\n' "$body" $f > $f; done; done
seq 1 ${LINES} | sed 's/^/line /; s/$/ of a file that is long/' > original.txt; cp original.txt large.txt
git init -q -b main; git add -A; git commit -qm all`,
  )
  const tree = await git.call('ask', { folder, files: [], args: ['rev-parse', 'HEAD^{tree}'] })
  const mine = await run(conversation, 'git rev-parse "HEAD^{tree}"')
  if (!mine.includes(tree.output.trim())) throw new Error('the two repositories are not the same')
  return { conversation, folder, git }
}

function largeText(more: (line: number) => string): string {
  return Array.from({ length: LINES }, (_, i) => `line ${i + 1} of a file that is long${more(i + 1)}\n`).join('')
}
