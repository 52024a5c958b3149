// Every command of the shell's differential test, and what agents run of Python, npm and runners of tests: in a session of a
// runner and in the machine's own bash under a terminal of the same size, from the same files. Output, exit code and the files
// that the service has afterwards are the same. `PARITY_ONLY` is a pattern that ids must match.

import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { RealShell, userEnvironment } from '../../test/support/real-shell-run.ts'
import type { CorpusEntry, FixtureEntry, TreeSummary } from '../../test/support/real-shell-types.ts'
import { entriesOf, themes } from '../../test/support/shell-corpus.ts'
import { summaryOf } from '../../test/support/shell-tree.ts'
import { type OwnAnswer, ownAnswer } from './parity/own-shell.ts'
import { PROGRAM_ENTRIES } from './parity/programs.ts'
import { DISK, nodesReader } from './parity/readers.ts'
import { NOT_RUN, REVIEWED } from './parity/reviewed.ts'
import { startRunner, temporaryFolder } from './support/runner-process.ts'
import { Session } from './support/stand-in-session.ts'

const isProof = process.env.PROOF === '1'
const only = process.env.PARITY_ONLY
/** One of so many is in the suite. */
const SAMPLE = 40
const LEAST_COMMANDS = 600
const LEAST_EQUAL = 0.99

type Answer = OwnAnswer & { tree: TreeSummary }
type Difference = { id: string; script: string; what: string[]; own: Answer; session: Answer }

const ALL = [...themes().flatMap(entriesOf), ...PROGRAM_ENTRIES].filter(({ id }) => NOT_RUN[id] === undefined)
const chosen = only === undefined ? ALL.filter(isChosen) : ALL.filter(({ id }) => new RegExp(only).test(id))

test(`${chosen.length} of ${ALL.length} commands answer in a session as in the machine's own bash`, {
  timeout: 3_000_000,
}, async () => {
  expect(ALL.length).toBeGreaterThanOrEqual(LEAST_COMMANDS)
  const bench = await Bench.open()
  const differences: Difference[] = []
  let compared = 0
  const unsteady: string[] = []
  const unended: string[] = []
  for (const entry of chosen) {
    const found = await bench.compare(entry)
    if (found === 'unsteady') unsteady.push(entry.id)
    else if (found === 'unended') unended.push(entry.id)
    else {
      compared += 1
      if (found !== null) differences.push(found)
    }
  }
  keep({ compared, unsteady, unended, differences })
  // Those that wait for somebody belong to the list of what is not run.
  expect.soft(unended).toEqual([])
  const different = new Set(differences.map(({ id }) => id))
  expect.soft([...different].filter((id) => REVIEWED[id] === undefined)).toEqual([])
  const equalNow = chosen.filter(({ id }) => REVIEWED[id] !== undefined && !different.has(id) && !unsteady.includes(id))
  expect.soft(equalNow.map(({ id }) => id)).toEqual([])
  // Of a sample all that differ are looked at.
  expect(1 - Object.keys(REVIEWED).length / ALL.length).toBeGreaterThanOrEqual(LEAST_EQUAL)
  // What the machine itself answers differently each time says nothing; it must stay the exception.
  expect(unsteady.length).toBeLessThanOrEqual(Math.ceil(chosen.length / 50))
})

/** The reviewed ones are always looked at: they are what may silently change. */
function isChosen({ id }: CorpusEntry, at: number): boolean {
  return isProof || at % SAMPLE === 7 || REVIEWED[id] !== undefined
}

/** One session, and a folder beside it whose name is as long. */
class Bench {
  readonly #session: Session
  readonly #copy: string
  readonly #own: string
  readonly #real = new RealShell(temporaryFolder())
  readonly #fixtures = new Map<string, FixtureEntry[]>()

  private constructor(session: Session, copy: string) {
    this.#session = session
    this.#copy = copy
    this.#own = join(temporaryFolder(), 'c1')
  }

  static async open(): Promise<Bench> {
    const { service, folder } = await startRunner()
    const session = new Session('c1')
    session.exclude = []
    await service.open('c1', session)
    return new Bench(session, join(folder, 'c1'))
  }

  /** Null when both are equal. */
  async compare(entry: CorpusEntry): Promise<Difference | 'unsteady' | 'unended' | null> {
    await this.#begin(entry)
    const before = join(this.#own, '..', 'before')
    rmSync(before, { recursive: true, force: true })
    cpSync(join(this.#copy, 'workspace'), before, COPY)
    const own = await this.#onOwn(entry, before)
    if (!own.isEnded) return 'unended'
    const session = await this.#inSession(entry)
    const what = differing(own, session)
    if (what.length === 0) return null
    const again = await this.#onOwn(entry, before)
    return differing(own, again).length > 0 ? 'unsteady' : { id: entry.id, script: entry.script, what, own, session }
  }

  async #begin({ fixture }: CorpusEntry): Promise<void> {
    const { tree } = this.#session
    const files = this.#fixtures.get(fixture) ?? (await this.#real.fixture(fixture))
    this.#fixtures.set(fixture, files)
    for (const path of [...tree.nodes.keys()]) tree.set(path, null)
    tree.nodes.clear()
    for (const file of files) tree.set(file.path, nodeOf(file))
    await this.#session.push()
  }

  async #inSession(entry: CorpusEntry): Promise<Answer> {
    const root = this.#copy
    freshPlaces(root)
    const text = `cd ${root}/workspace; ${wrapped(entry, root)}`
    const { output, outcome, tree } = await this.#session.run(text, { env: environment(root), hardMs: 60_000 })
    const summary = await summaryOf(nodesReader(tree), '')
    return plain(entry, root, { output, exitCode: outcome.exitCode, isEnded: true, tree: summary })
  }

  async #onOwn(entry: CorpusEntry, before: string): Promise<Answer> {
    const root = this.#own
    freshPlaces(root)
    const workspace = join(root, 'workspace')
    rmSync(workspace, { recursive: true, force: true })
    cpSync(before, workspace, COPY)
    const env = { ...machineEnvironment(), ...environment(root) }
    const answer = await ownAnswer(wrapped(entry, root), { cwd: workspace, env })
    return plain(entry, root, { ...answer, tree: await summaryOf(DISK, workspace) })
  }
}

const COPY = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true }

/** In a shell of its own, because the session keeps what a command sets; line by line, as a shell reads; and nobody types. */
function wrapped({ script }: CorpusEntry, root: string): string {
  const inside = script.replaceAll(/(?<![\w.*}])\/(workspace|tmp|home\/user)\b/g, `${root}/$1`)
  return `( eval '${inside.replaceAll("'", `'\\''`)}' ) < /dev/null`
}

function freshPlaces(root: string): void {
  for (const place of ['tmp', 'home/user']) {
    rmSync(join(root, place), { recursive: true, force: true })
    mkdirSync(join(root, place), { recursive: true })
  }
}

function environment(root: string): Record<string, string> {
  return {
    ...userEnvironment(root),
    npm_config_update_notifier: 'false',
    PYTHONDONTWRITEBYTECODE: '1',
  }
}

/** As a runner without a sandbox gives it on. */
function machineEnvironment(): Record<string, string> {
  const { NODE_ENV: _, ...own } = process.env
  const known = Object.entries(own).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return { ...Object.fromEntries(known), TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat' }
}

function nodeOf(file: FixtureEntry) {
  if (file.kind === 'directory') return { kind: 'directory', mode: 0o755 } as const
  if (file.kind === 'symlink') return { kind: 'symlink', target: file.target } as const
  const bytes = Buffer.from(file.base64, 'base64')
  return { kind: 'file', mode: file.executable ? 0o755 : 0o644, bytes, mtime: file.mtimeMs } as const
}

function plain({ normalise }: CorpusEntry, root: string, { output, exitCode, isEnded, tree }: Answer): Answer {
  const withoutRoot = (text: string) => text.replaceAll(`${root}/`, '/').replaceAll(root, '/')
  let text = withoutPlaces(withoutRoot(output).replaceAll('\r\n', '\n'))
  if (normalise.includes('sorted')) text = text.split('\n').sort().join('\n')
  if (normalise.includes('temp')) text = text.replaceAll(/\/tmp\/[\w.-]+/g, '/tmp/TEMP')
  const held = Object.entries(tree).map(([path, what]) => [path, withoutRoot(what)])
  return { output: text, exitCode, isEnded, tree: Object.fromEntries(held) }
}

/** Names of the script and of the line stand in bash's own messages: a script has them, a session does not. */
function withoutPlaces(text: string): string {
  return text
    .replaceAll(/^(bash|environment|[\w/.-]*\/run\/call)?: (line \d+: )?/gm, 'bash: ')
    .replaceAll(/^bash: line \d+: /gm, 'bash: ')
}

function differing(a: Answer, b: Answer): string[] {
  const what: string[] = []
  if (a.output !== b.output) what.push('output')
  if (a.exitCode !== b.exitCode) what.push('exit code')
  for (const path of new Set([...Object.keys(a.tree), ...Object.keys(b.tree)])) {
    if (a.tree[path] !== b.tree[path]) what.push(`${path}: ${a.tree[path]} | ${b.tree[path]}`)
  }
  return what
}

type ParityResult = { compared: number; unsteady: string[]; unended: string[]; differences: Difference[] }

/** For whoever repairs a difference: `PARITY_DETAILS` names a file. */
function keep(found: ParityResult): void {
  const path = process.env.PARITY_DETAILS
  if (path !== undefined) writeFileSync(path, JSON.stringify(found, null, 1))
}
