// One bash in a terminal, for the lifetime of the runner. It knows nothing about calls: it gets a script at its prompt,
// and reports output bytes and the end of each script.

import { closeSync, constants, fstatSync, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type IPty, spawn } from '@lydell/node-pty'
import { isCode } from '../sync/folder.ts'
import { type Mark, MarkScanner, type Prompt } from './marks.ts'
import { countDescendants, foregroundGroup, isEnding, killTree, parentOf, signalGroup } from './processes.ts'
import { callSource, type ShellPaths, typedLine } from './shell-source.ts'

export type ShellLaunch = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly nonce: string
  /** As the shell sees them. */
  readonly paths: ShellPaths
  /** The pipe as the runner sees it. */
  readonly callPipe: string
  /** The state saved between shells, if it is outside the sandbox; null if it is lost with the sandbox. */
  readonly stateFile: string | null
  /** The limit of the session's processes; null if there is none. */
  readonly processes: number | null
}
export type ShellEvents = {
  readonly onOutput: (bytes: Buffer) => void
  /** A script ended, with its status and the shell's current folder. */
  readonly onEnded: (prompt: Prompt) => void
  /**
   * The shell itself ended, and another one replaces it: with the folder, functions and exported variables if they
   * could be saved.
   */
  readonly onReplaced: (isSaved: boolean) => void
  /** The terminal has ended, with everything in it. */
  readonly onGone: (reason: string) => void
}

const COLUMNS = 200
const ROWS = 50
/** The time limit for a new shell's first prompt, and for a shell at its prompt to open the pipe. */
const READY_MS = 15_000
/** This close to the session's limit, a command may be unable to start a program. */
const CROWDED_SHARE = 0.9
/** Programs that start each other until they are refused start and end quickly, so they are counted this many times. */
const COUNTS = 5
const COUNT_EVERY_MS = 10

/** The part that calls use. */
export type Session = Pick<Shell, keyof Shell>

export class Shell {
  readonly #launch: ShellLaunch
  readonly #events: ShellEvents
  readonly #terminal: IPty
  #state: 'starting' | 'idle' | 'running' | 'gone' = 'starting'
  #isStarted = false
  #prompt: Prompt | null = null
  #endedWith: number | null = null
  #atRest = 0
  #wasFirst = true
  /** The shell itself, which is in the foreground of the terminal at its prompt. */
  #shellGroup: number | null = null
  /** The process that starts a new shell when one ends. */
  #starter: number | null = null
  #ready = awaited()

  constructor(launch: ShellLaunch, events: ShellEvents) {
    this.#launch = launch
    this.#events = events
    const scanner = new MarkScanner(launch.nonce, {
      onBytes: (bytes) => this.#output(bytes),
      onMark: (mark) => this.#marked(mark),
    })
    this.#terminal = spawn(launch.command, [...launch.args], {
      name: 'dumb',
      cols: COLUMNS,
      rows: ROWS,
      cwd: launch.cwd,
      env: { ...launch.env },
      encoding: null,
    })
    // Without an encoding the terminal returns bytes, unlike its types.
    this.#terminal.onData((data) => scanner.push(data as unknown as Buffer))
    this.#terminal.onExit(({ exitCode, signal }) =>
      this.#gone(`the session ended (${exitCode}, signal ${signal ?? 0})`),
    )
  }

  get isRunning(): boolean {
    return this.#state === 'running'
  }

  /** Null if it has ended. */
  get pid(): number | null {
    return this.#state === 'gone' ? null : this.#terminal.pid
  }

  get prompt(): Prompt | null {
    return this.#prompt
  }

  /** Whether anything besides the shell is running in the session: a command, or background processes. */
  get hasWork(): boolean {
    if (this.#state === 'gone') return false
    return this.#state === 'running' || countDescendants(this.#terminal.pid) > this.#atRest
  }

  /** Whether background processes use all processes that the session may have. */
  async isCrowded(): Promise<boolean> {
    const { processes } = this.#launch
    if (processes === null) return false
    for (let counts = 0; counts < COUNTS && this.#state === 'idle'; counts++) {
      const count = countDescendants(this.#terminal.pid)
      if (count >= processes * CROWDED_SHARE) return true
      if (count < processes / 2) return false
      await delay(COUNT_EVERY_MS)
    }
    return false
  }

  /** Rejects if the shell does not reach its prompt. */
  async ready(): Promise<void> {
    const timeout = delay(READY_MS, 'late', { ref: false })
    if ((await Promise.race([this.#ready.promise, timeout])) === 'late')
      throw new Error(`no prompt within ${READY_MS} ms`)
  }

  /**
   * Only at the prompt. Resolves when the shell has read the script, which is stored nowhere else. `onTaken` is called
   * when the shell starts to read: if anything fails before that, nothing was executed.
   */
  async run(
    call: { text: string; env: Readonly<Record<string, string>>; cwd: string | null },
    onTaken: () => void,
  ): Promise<void> {
    this.#endWithStarter()
    if (this.#state !== 'idle') throw new Error(`the shell is ${this.#state}`)
    this.#state = 'running'
    this.#isStarted = false
    const statusBefore = this.#endedWith === null ? (this.#prompt?.status ?? 0) : 0
    this.#endedWith = null
    this.#terminal.write(typedLine(this.#launch.paths))
    const fd = await this.#openedPipe()
    onTaken()
    const pipe = new Socket({ fd, readable: false, writable: true })
    await new Promise<void>((resolve) => {
      // A shell that dies during the read closes the pipe: its end is reported by the terminal.
      pipe.on('error', () => resolve())
      pipe.on('close', () => resolve())
      pipe.end(callSource(this.#launch.nonce, call, statusBefore))
    })
  }

  /** Input for the running program. */
  type(text: string): void {
    this.#terminal.write(text)
  }

  /**
   * Kills the program in the foreground. Never the shell itself, which is in the foreground between two programs: its
   * variables would be lost.
   */
  killProgram(): void {
    const group = this.#state === 'gone' ? null : foregroundGroup(this.#terminal.pid)
    const isShell = group === this.#shellGroup || group === this.#starter
    if (group !== null && !isShell && !isChild(group, this.#starter)) signalGroup(group, 'SIGKILL')
  }

  /** After SIGINT it returns to its prompt; after SIGKILL a new shell without its state follows. */
  signalShell(signal: 'SIGINT' | 'SIGKILL'): void {
    if (this.#state !== 'gone' && this.#shellGroup !== null) signalGroup(this.#shellGroup, signal)
  }

  pause(): void {
    if (this.#state !== 'gone') this.#terminal.pause()
  }

  resume(): void {
    if (this.#state !== 'gone') this.#terminal.resume()
  }

  /** Ends everything in the session. */
  end(): void {
    if (this.#state === 'gone') return
    // One by one: without a sandbox nothing else would end background processes.
    killTree(this.#terminal.pid)
    this.#gone('ended by the runner')
  }

  async #openedPipe(): Promise<number> {
    const { O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants
    const until = performance.now() + READY_MS
    for (;;) {
      if (this.#state === 'gone') throw new Error('the session ended')
      try {
        const fd = openSync(this.#launch.callPipe, O_WRONLY | O_NONBLOCK | O_NOFOLLOW)
        if (fstatSync(fd).isFIFO()) return fd
        closeSync(fd)
        throw new Error('the pipe of the session is no pipe')
      } catch (error) {
        // There is no reader yet.
        if (!isCode(error, 'ENXIO') || performance.now() > until) throw error
        await delay(1)
      }
    }
  }

  #output(bytes: Buffer): void {
    // Before its first prompt the shell prints nothing that belongs to a command; after it everything is output, even
    // of background jobs.
    if (this.#state === 'starting' && this.#wasFirst) return
    this.#events.onOutput(bytes)
  }

  #marked(mark: Mark): void {
    if (mark.kind === 'started') this.#isStarted = true
    else if (mark.kind === 'prompt') this.#prompted(mark.prompt)
    else {
      this.#endedWith = mark.status
      if (!this.#wasFirst) this.#events.onReplaced(mark.isSaved)
      if (this.#state !== 'idle') return
      // It was killed at its prompt: the next one has not started yet.
      this.#state = 'starting'
      this.#ready = awaited()
    }
  }

  #prompted(prompt: Prompt): void {
    const status = this.#endedWith ?? prompt.status
    this.#shellGroup = foregroundGroup(this.#terminal.pid)
    this.#prompt = { ...prompt, status }
    if (this.#state === 'running') {
      // A prompt that was printed before the script was typed.
      if (!this.#isStarted && this.#endedWith === null) return
      this.#state = 'idle'
      this.#events.onEnded({ ...prompt, status })
      this.#endWithStarter()
      return
    }
    if (this.#wasFirst) {
      this.#atRest = countDescendants(this.#terminal.pid)
      this.#starter = this.#shellGroup === null ? null : parentOf(this.#shellGroup)
    }
    this.#wasFirst = false
    this.#state = 'idle'
    this.#ready.settle(null)
  }

  /**
   * `kill -9 -1` kills everything except the shell that runs it, including the starter: the terminal ends a moment
   * later, with any script that is run then.
   */
  #endWithStarter(): void {
    if (this.#starter !== null && isEnding(this.#starter)) this.end()
  }

  #gone(reason: string): void {
    if (this.#state === 'gone') return
    this.#state = 'gone'
    if (this.#launch.stateFile !== null) rmSync(this.#launch.stateFile, { force: true })
    this.#ready.settle(new Error(reason))
    this.#events.onGone(reason)
  }
}

function awaited(): { promise: Promise<void>; settle: (error: Error | null) => void } {
  let settle: (error: Error | null) => void = () => {}
  const promise = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === null ? resolve() : reject(error))
  })
  // Waiting callers get the failure; there may be none.
  promise.catch(() => {})
  return { promise, settle }
}

/** Of the process that starts shells: a new one. */
const isChild = (pid: number, parent: number | null): boolean => parent !== null && parentOf(pid) === parent
