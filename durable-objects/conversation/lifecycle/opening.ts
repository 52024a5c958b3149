// Opens and closes the session of a conversation: while it is open, the agent's loop accepts events and clients can connect.

import { userMessage } from '../../../src/agent/actions.ts'
import type { Announcement } from '../../../src/agent/events.ts'
import type { AgentLoop } from '../../../src/agent/loop.ts'
import { beginSession, continueFork, openSession, resumeSession, takeUpPast } from '../../../src/agent/session.ts'
import type { TurnDeps } from '../../../src/agent/turn-deps.ts'
import { folderOf, isThere } from '../repository/setup.ts'
import { sessionEnd } from '../sockets/session-attachment.ts'
import type { TurnHost } from '../turn/turn-host.ts'
import { IdleWatch } from './idle-watch.ts'
import type { IndexRow } from './index-row.ts'
import type { TitleGenerator } from './title-generator.ts'
import type { WorkspaceSetup } from './workspace-setup.ts'

type OpeningDeps = {
  host: TurnHost
  turn: TurnDeps
  loop: AgentLoop
  setup: WorkspaceSetup
  index: IndexRow
  titles: TitleGenerator
  /** Sets the alarm of this name, epoch ms. */
  alarmAt(name: 'setup' | 'idle', at: number): void
  idleCloseMs: number
}

export class Opening {
  readonly #deps: OpeningDeps
  readonly idle: IdleWatch

  constructor(deps: OpeningDeps) {
    this.#deps = deps
    const { host, setup, loop } = deps
    this.idle = new IdleWatch(
      {
        isRunning: () => this.isRunning,
        isBusy: () =>
          host.sessions.count > 0 ||
          host.runner.terminal.viewers.count > 0 ||
          setup.isPending ||
          loop.state === 'running',
        lastAt: () => host.log.lastAt,
        stop: () => this.stop(),
      },
      (at) => deps.alarmAt('idle', at),
      deps.idleCloseMs,
    )
  }

  get isRunning(): boolean {
    return this.#deps.host.record.value.loop === 'running'
  }

  /** Opens a new conversation, in the write that creates it. */
  begin(): void {
    const { host, turn, titles, setup, index } = this.#deps
    const { firstMessage, repository, agent } = host.record.value
    beginSession(turn, agent ?? 'ShellAgent')
    if (firstMessage !== null) titles.titledBy(userMessage(firstMessage.content, firstMessage.imageUrls, null))
    if (repository === null) setup.finishEmpty()
    else this.#deps.alarmAt('setup', Date.now())
    index.mark()
  }

  /** Like `begin`, for a conversation that was forked from another. */
  beginFork(): void {
    const { host, turn, index } = this.#deps
    const { title, agent } = host.record.value
    host.record.change({ title: host.secrets.maskText(title) })
    continueFork(turn, agent ?? 'ShellAgent')
    host.wake(Date.now())
    index.mark()
  }

  /** Like `begin`, for an imported conversation: it stays closed, with its log unchanged, until the owner starts it. */
  beginImported(): void {
    const { host, turn, index } = this.#deps
    const { title, agent } = host.record.value
    host.record.change({ title: host.secrets.maskText(title) })
    takeUpPast(turn, agent ?? 'ShellAgent')
    if (!turn.turn.value.opened) openSession(turn, null)
    turn.turn.change({ state: 'stopped' })
    index.mark()
  }

  /** Starts the loop of a conversation that was closed; false when it was running. */
  start(): boolean {
    if (this.isRunning) return false
    const { host, turn, index } = this.#deps
    host.record.change({ loop: 'running' })
    this.idle.begin()
    resumeSession(turn)
    const { repository, setup } = host.record.value
    // A missing working copy is cloned again; an existing one stays as it is.
    if (repository !== null && (setup !== 'done' || !isThere(host.files, folderOf(repository)))) {
      host.record.change({ setup: 'pending' })
      this.#deps.alarmAt('setup', Date.now())
    }
    index.mark()
    return true
  }

  /** Closes the session: stops the agent and disconnects the clients. False when it was not running. */
  stop(notice: Announcement | null = null): boolean {
    if (!this.isRunning) return false
    const { host, loop, setup, index } = this.#deps
    setup.abort()
    loop.close(notice?.message)
    if (notice !== null) {
      host.sessions.announce(notice)
      // Clients of the reference show no status of this kind, but they show the message of an error frame.
      host.sessions.announce({ error: true, message: notice.message })
    }
    host.record.change({ loop: 'stopped' })
    host.runner.terminal.close(sessionEnd(notice?.message ?? 'stopped'))
    host.runner.release(false)
    host.sessions.close(() => true, sessionEnd(notice?.message ?? 'stopped'))
    index.mark()
    return true
  }
}
