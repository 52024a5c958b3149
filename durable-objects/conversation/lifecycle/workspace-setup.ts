// The set-up of a conversation's workspace: its events for the clients, and the inputs that wait for its end.

import { userMessage } from '../../../src/agent/actions.ts'
import { enterFolder, failSession, openSession } from '../../../src/agent/session.ts'
import type { TurnDeps } from '../../../src/agent/turn-deps.ts'
import { config } from '../../../src/config.ts'
import { errorFields, log } from '../../../src/lib/log.ts'
import { WORKSPACE_ROOT } from '../../../src/workspace/paths.ts'
import { gitAccess } from '../repository/git-access.ts'
import { type SetupOutcome, setUpRepository } from '../repository/setup.ts'
import type { SetupHost } from '../repository/setup-script.ts'
import { runCommand } from '../turn/shell-commands.ts'
import type { TurnHost } from '../turn/turn-host.ts'

type SetupDeps = {
  sql: SqlStorage
  host: TurnHost
  turn: TurnDeps
  /** Called when the conversation's row in the index has changed. */
  changed(): void
}

export class WorkspaceSetup {
  readonly #deps: SetupDeps
  #abort: AbortController | null = null

  constructor(deps: SetupDeps) {
    this.#deps = deps
  }

  /** Whether the workspace is still being prepared. */
  get isPending(): boolean {
    const { loop, setup } = this.#deps.host.record.value
    return loop === 'running' && setup === 'pending'
  }

  abort(): void {
    this.#abort?.abort()
  }

  /** For a workspace that begins empty. */
  finishEmpty(): void {
    this.#finish({ ok: true, folder: WORKSPACE_ROOT, shell: null })
  }

  async run(): Promise<void> {
    const { host } = this.#deps
    const { env, record, files, secrets } = host
    const { repository } = record.value
    if (repository === null || !this.isPending) return
    await secrets.open()
    this.#abort = new AbortController()
    const { signal } = this.#abort
    this.#report('STATUS$STARTING_RUNTIME', 'Starting')
    this.#report('STATUS$SETTING_UP_WORKSPACE', `Cloning ${repository.name}`)
    try {
      const outcome = await setUpRepository({
        fs: files,
        repository,
        remotes: gitAccess(env, record.value),
        maxFileBytes: config(env).maxFileBytes,
        onProgress: (text) => this.#report('STATUS$SETTING_UP_WORKSPACE', text),
        signal,
        host: this.#setupHost(),
      })
      if (!signal.aborted) this.#finish(outcome)
    } catch (error) {
      if (signal.aborted) return
      log.error('conversation.setup_failed', errorFields(error))
      const reason = `Cloning ${repository.name} failed for a reason of ours; start again.`
      this.#finish({ ok: false, reason, statusId: 'STATUS$ERROR' })
    } finally {
      this.#abort = null
    }
  }

  #setupHost(): SetupHost {
    const { sql, host } = this.#deps
    const { secrets, runner, record } = host
    return {
      sql,
      emit: host.emit,
      run: (command, shell, bounds) => runCommand(host, { command, shell, ...bounds }),
      choose: (key) => runner.choose(key),
      isOpen: (key) => runner.isOpen(key),
      keyOf: (name) => `${record.value.incarnation.slice(0, 12)}-setup-${name}`,
      filter: () => secrets.stream(),
      variables: secrets.variables,
    }
  }

  /** Stores the end of the set-up, and the inputs that waited for it, in one write. */
  #finish(outcome: SetupOutcome): void {
    const { host, turn, changed } = this.#deps
    const { record, sessions } = host
    const { firstMessage } = record.value
    const message = firstMessage && userMessage(firstMessage.content, firstMessage.imageUrls, null)
    record.change({ setup: outcome.ok ? 'done' : 'failed', firstMessage: null })
    if (outcome.ok) {
      enterFolder(turn, outcome.folder, outcome.shell)
      openSession(turn, message, firstMessage?.isTask)
      this.#report('STATUS$READY', 'Ready')
    } else {
      failSession(turn, outcome.reason, message)
      sessions.announce({ status_update: true, type: 'error', id: outcome.statusId, message: outcome.reason })
    }
    host.wake(Date.now())
    changed()
  }

  #report(id: string, message: string): void {
    this.#deps.host.sessions.announce({ status_update: true, type: 'info', id, message })
  }
}
