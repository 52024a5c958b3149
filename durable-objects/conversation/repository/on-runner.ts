// The set-up of a repository on a runner. The machine's git clones it and the machine's bash runs its script, in the
// session that the conversation uses from then on. After a restart this object follows the command that runs. If a
// runner is lost during a clone, only the clone is lost, and another runner or the interpreter begins it again. An
// incomplete clone never gets into the tree: it is made in a folder that is not synced.

import type { RunnerResult, Runtime } from '../../../src/agent/runtime.ts'
import { DEFAULT_IDENTITY, freshBranchName, type Identity } from '../../../src/kits/git/index.ts'
import type { OutputFilter } from '../../../src/kits/shell/index.ts'
import { WORKSPACE_ROOT } from '../../../src/workspace/paths.ts'
import { StoredRecord } from '../../stored-record.ts'
import type { SelectedRepository } from '../schema.ts'

/** The folder of a clone until it is complete. */
export const CLONING_FOLDER = '.bellwether-cloning'

export type LentHost = {
  sql: SqlStorage
  choose(key: string): Promise<Runtime>
  /** Whether the outcome of the call of this key can still be learned. */
  isOpen(key: string): boolean
  /** A key that no other conversation, and no earlier conversation of this id, uses. */
  keyOf(name: string): string
  filter(): OutputFilter
}

type Runner = Extract<Runtime, { kind: 'runner' }>
type Task = 'clone' | 'script'

/**
 * `attempt` counts the tasks that were given to a runner, so that no key is used twice; `part` counts the calls that
 * waited for the same task. `said`: the end of the output before this part. `isCloned`: the working copy exists, and
 * the steps after it are not done yet.
 */
type Progress = { attempt: number; part: number; said: string; isCloned: boolean }
const NOTHING: Progress = { attempt: 0, part: 0, said: '', isCloned: false }

const CLONE_MS = 30 * 60_000
/** After this many lost clones in a row the interpreter clones. */
const MAX_LOST = 4
const KEPT_CHARS = 8_000
/** How long a command may take to end after `C-c`. */
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
/** `remark`: what the workspace does not contain of the clone. */
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

  /** True when an earlier instance of this object made the clone but did not get to the script. */
  get isCloned(): boolean {
    return this.#progress.value.isCloned
  }

  /** Whether an earlier instance of this object gave the task to a runner and did not get its end. */
  isOpen(task: Task): boolean {
    return this.#host.isOpen(this.#key(task))
  }

  /** `runner` is null when the interpreter has to do it; `why` says so if a runner was required. */
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
    // The runner's session itself may fail, too: then the outcome of the clone is unknown.
    if (failure !== null || exitCode === -1) {
      this.#lost += 1
      return { kind: 'lost' }
    }
    if (exitCode !== 0) return failed(reasonIn(output, exitCode))
    this.#progress.change({ isCloned: true })
    return { kind: 'cloned', remark }
  }

  /**
   * Runs the script in the working copy. A session that has cloned is already in it; any other session begins there.
   */
  script(runner: Runner, script: Omit<Work, 'runner' | 'onOutput'>): Promise<RunnerResult> {
    return this.#run('script', { runner, ...script, onOutput: () => undefined })
  }

  /** The set-up is complete: the next one begins from the start. */
  end(): void {
    if (this.isCloned) this.#progress.change({ isCloned: false })
  }

  /** Waits until the task has ended, and interrupts it after its time. `isGoingOn` if the interrupts had no effect. */
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
        // This key is never used again, whatever the outcome was.
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

/**
 * The machine's hooks and file system monitor must not run for an untrusted repository, and neither may transports that
 * run programs.
 */
const SAFE = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'protocol.ext.allow=never',
  'protocol.file.allow=never',
]
/** Git gives up a host that sends nothing for a minute. */
const PATIENCE = ['http.lowSpeedLimit=1', 'http.lowSpeedTime=60']

/**
 * The shell script of a clone. A subshell, so that it changes nothing in the session except the current folder. The
 * clone is renamed to its final place when it is complete. Large-file pointers stay pointers and submodules are not
 * fetched, as with the interpreter's git.
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

/** The last error messages of git. For a refusal by the proxy, what the user can do about it. */
function reasonIn(output: string, exitCode: number): string {
  const lines = output.split('\n').map((line) => line.trim())
  const said = lines.filter((line) => /^(fatal|error): /.test(line)).join('; ') || lines.findLast((line) => line !== '')
  const text = (said ?? `exit code ${exitCode}`).replace(/^(fatal|error): /, '').slice(0, 1_000)
  const isRefused = /(CONNECT tunnel failed|from proxy after CONNECT|returned error): (response )?403/.test(text)
  return isRefused ? `${text} (where the runner's list of hosts lacks this one: start it with --allow)` : text
}

/** Splits git's output into lines of progress; git overwrites each of them many times. */
function progressOf(tell: (text: string) => void): (text: string) => void {
  let rest = ''
  let last = ''
  let at = 0
  return (text) => {
    const lines = (rest + text).split(/[\r\n]+/)
    rest = (lines.pop() ?? '').slice(-1_000)
    for (const line of lines.map((one) => one.trimEnd()).filter((one) => one !== '')) {
      const what = line.replace(/\d.*$/, '')
      // The same step again: at most four times a second.
      if (what === last && Date.now() - at < 250) continue
      last = what
      at = Date.now()
      tell(line.slice(0, 300))
    }
  }
}
