// The set-up of a repository on a runner: cloned by the machine's git, and its script run by the machine's bash, in the session
// that the conversation has from then on. A restart of this object follows what runs; a runner that is lost in a clone costs
// the clone alone, which begins again elsewhere. A half clone is in no tree: it is made in a folder that is never sent.

import type { RunnerResult, Runtime } from '../../../src/agent/runtime.ts'
import { DEFAULT_IDENTITY, freshBranchName, type Identity } from '../../../src/kits/git/index.ts'
import type { OutputFilter } from '../../../src/kits/shell/index.ts'
import { WORKSPACE_ROOT } from '../../../src/workspace/paths.ts'
import { StoredRecord } from '../../stored-record.ts'
import type { SelectedRepository } from '../schema.ts'

/** Where a clone grows until it is whole. */
export const CLONING_FOLDER = '.bellwether-cloning'

export type LentHost = {
  sql: SqlStorage
  choose(key: string): Promise<Runtime>
  /** Whether the outcome of the call of this key can still be learned. */
  isOpen(key: string): boolean
  /** Of this conversation alone, and of this life of its id. */
  keyOf(name: string): string
  filter(): OutputFilter
}

type Runner = Extract<Runtime, { kind: 'runner' }>
type Task = 'clone' | 'script'

/**
 * `attempt` counts what was given to a runner, so that no key is used twice; `part`: how often it was waited for. `said`: the end of what was
 * printed before this part. `isCloned`: the working copy is there, and what comes after it is not done yet.
 */
type Progress = { attempt: number; part: number; said: string; isCloned: boolean }
const NOTHING: Progress = { attempt: 0, part: 0, said: '', isCloned: false }

const CLONE_MS = 30 * 60_000
/** Lost clones in a row; then the interpreter clones. */
const MAX_LOST = 4
const KEPT_CHARS = 8_000
/** After a C-c. */
const GRACE_MS = 5_000

type Work = {
  runner: Runner
  text: string
  cwd: string
  env: Readonly<Record<string, string>>
  limitMs: number
  signal: AbortSignal
  onOutput(text: string): void
}

export type CloneOrder = {
  repository: SelectedRepository
  folder: string
  identity: Identity
  /** A larger history is cut off, as the interpreter's git does. */
  maxHistoryBytes: number
  maxFileBytes: number
  onProgress(text: string): void
  signal: AbortSignal
}
/** `remark`: what the workspace has not got of it. */
export type LentClone =
  | { kind: 'cloned'; remark: string }
  | { kind: 'lost' }
  | { kind: 'failed'; message: string; isAuthentication: boolean }

export class LentSetup {
  readonly #host: LentHost
  readonly #progress: StoredRecord<Progress>
  #lost = 0

  constructor(host: LentHost) {
    this.#host = host
    this.#progress = new StoredRecord<Progress>(host.sql, 'runner-setup', NOTHING, 'on-change')
  }

  /** The copy is there, from a life of this object that did not come to the script. */
  get isCloned(): boolean {
    return this.#progress.value.isCloned
  }

  /** Whether a runner has it, from a life of this object that ended before it did. */
  isOpen(task: Task): boolean {
    return this.#host.isOpen(this.#key(task))
  }

  /** Null where the interpreter has to do it; `why` when a runner was wanted. */
  async choose(task: Task): Promise<{ runner: Runner } | { runner: null; why: string | null }> {
    if (this.#lost >= MAX_LOST) return { runner: null, why: null }
    const runtime = await this.#host.choose(this.#key(task))
    if (runtime.kind === 'runner') return { runner: runtime }
    return { runner: null, why: runtime.kind === 'missing' ? runtime.why : null }
  }

  async clone(runner: Runner, order: CloneOrder): Promise<LentClone> {
    const onOutput = progressOf(order.onProgress)
    const work = { runner, text: cloneScript(order), cwd: WORKSPACE_ROOT, env: {}, limitMs: CLONE_MS }
    const result = await this.#run('clone', { ...work, signal: order.signal, onOutput })
    const { exitCode, output, remark, failure, isGoingOn } = result
    if (isGoingOn) return failed(`it took longer than ${CLONE_MS / 60_000} minutes and was stopped`)
    // The runner's own session may fail as well: then nothing is known of the clone either.
    if (failure !== null || exitCode === -1) {
      this.#lost += 1
      return { kind: 'lost' }
    }
    if (exitCode !== 0) return failed(reasonIn(output, exitCode))
    this.#progress.change({ isCloned: true })
    return { kind: 'cloned', remark }
  }

  /** The script in the working copy: the session is in it after a clone there, and begins in it elsewhere. */
  script(runner: Runner, script: Omit<Work, 'runner' | 'onOutput'>): Promise<RunnerResult> {
    return this.#run('script', { runner, ...script, onOutput: () => undefined })
  }

  /** All is done: the next set-up begins from nothing. */
  end(): void {
    if (this.isCloned) this.#progress.change({ isCloned: false })
  }

  /** Waits until it has ended. What takes too long is interrupted; `isGoingOn` then, if that did not help. */
  async #run(task: Task, { runner, text, cwd, env, limitMs, signal, onOutput }: Work): Promise<RunnerResult> {
    const until = Date.now() + limitMs
    for (let interrupts = 0; ; ) {
      const { part, said } = this.#progress.value
      const leftMs = until - Date.now()
      const isOver = part > 0 && leftMs <= 0
      if (isOver) interrupts += 1
      const result = await runner.run({
        key: this.#key(task),
        kind: part === 0 ? 'run' : isOver ? 'input' : 'more',
        text: part === 0 ? text : isOver ? 'C-c' : '',
        cwd,
        env,
        timeoutMs: Math.max(leftMs, GRACE_MS),
        signal,
        filter: this.#host.filter(),
        onOutput,
      })
      const output = said + result.output
      if (!result.isGoingOn || result.aborted || interrupts > 2) {
        // Whatever became of it: this key is never used again.
        this.#progress.change({ attempt: this.#progress.value.attempt + 1, part: 0, said: '' })
        signal.throwIfAborted()
        return { ...result, output }
      }
      this.#progress.change({ part: part + 1, said: output.slice(-KEPT_CHARS) })
    }
  }

  #key(task: Task): string {
    const { attempt, part } = this.#progress.value
    return this.#host.keyOf(`${task}-${attempt}-${part}`)
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Hooks and monitors of the machine's own are not for a stranger's tree; neither is a transport that runs programs. */
const SAFE = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'protocol.ext.allow=never',
  'protocol.file.allow=never',
]
/** A host that says nothing for a minute is not waited for. */
const PATIENCE = ['http.lowSpeedLimit=1', 'http.lowSpeedTime=60']

/**
 * In a subshell, so that nothing of it is left in the session but the folder. What it makes is renamed into its place when it is
 * whole. Pointers of large files stay pointers and submodules are not fetched, as with the interpreter's git.
 */
function cloneScript({ repository, folder, identity, maxHistoryBytes, maxFileBytes }: CloneOrder): string {
  const { url, branch } = repository
  const name = quoted(`./${folder.slice(WORKSPACE_ROOT.length + 1)}`)
  const settings = [...SAFE, ...PATIENCE].map((setting) => `-c ${setting}`).join(' ')
  const only = branch === null ? '' : ` --branch ${quoted(branch)}`
  const who = { name: identity.name ?? DEFAULT_IDENTITY.name, email: identity.email ?? DEFAULT_IDENTITY.email }
  const identify = Object.entries(who).map(
    ([key, value]) => `git config user.${key} >/dev/null || git config user.${key} ${quoted(value)}`,
  )
  const fresh = `if git rev-parse -q --verify HEAD >/dev/null; then git switch -q -c ${freshBranchName()} --no-track; fi`
  const kib = (bytes: number) => Math.floor(bytes / 1024)
  return `((
export GIT_TERMINAL_PROMPT=0 GIT_LFS_SKIP_SMUDGE=1
unset GIT_ASKPASS SSH_ASKPASS
rm -rf ${CLONING_FOLDER} && mkdir ${CLONING_FOLDER} && cd ${CLONING_FOLDER} || exit 1
bring() { rm -rf copy; git ${settings} clone --progress --template= --no-recurse-submodules "$@"${only} -- ${quoted(url)} copy; }
bring || exit
if [ "$(du -sk copy/.git/objects | cut -f1)" -gt ${kib(maxHistoryBytes)} ]; then
  echo 'warning: the whole history is more than is kept with the conversation: only the last commit of one branch is cloned, as with --depth=1'
  bring --depth=1 || exit
fi
cd copy || exit 1
if [ -n "$(find .git/objects/pack -size +${kib(maxFileBytes)}k)" ]; then
  git config pack.packSizeLimit ${kib(maxFileBytes / 2)}k && git repack -adq || exit
fi
${identify.join('\n')}
${branch === null ? fresh : ''}
cd .. && rm -rf ../${name} && mv copy ../${name}
); made=$?; rm -rf ${CLONING_FOLDER}; exit "$made") && cd ${name}`
}

function failed(message: string): LentClone {
  const isAuthentication = /could not read Username|Authentication failed|returned error: 40[13]/.test(message)
  return { kind: 'failed', message, isAuthentication }
}

/** What git says last of why; the proxy's refusal with what to do about it. */
function reasonIn(output: string, exitCode: number): string {
  const lines = output.split('\n').map((line) => line.trim())
  const said = lines.filter((line) => /^(fatal|error): /.test(line)).join('; ') || lines.findLast((line) => line !== '')
  const text = (said ?? `exit code ${exitCode}`).replace(/^(fatal|error): /, '').slice(0, 1_000)
  const isRefused = /(CONNECT tunnel failed|from proxy after CONNECT|returned error): (response )?403/.test(text)
  return isRefused ? `${text} (where the runner's list of hosts lacks this one: start it with --allow)` : text
}

/** Lines of git's progress, each state of one that is written over again and again. */
function progressOf(tell: (text: string) => void): (text: string) => void {
  let rest = ''
  let last = ''
  let at = 0
  return (text) => {
    const lines = (rest + text).split(/[\r\n]+/)
    rest = (lines.pop() ?? '').slice(-1_000)
    for (const line of lines.map((one) => one.trimEnd()).filter((one) => one !== '')) {
      const what = line.replace(/\d.*$/, '')
      // The same work again and again: as often as a person can read it.
      if (what === last && Date.now() - at < 250) continue
      last = what
      at = Date.now()
      tell(line.slice(0, 300))
    }
  }
}
