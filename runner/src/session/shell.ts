// One bash under a terminal, for as long as the runner lives. It knows no calls: it is given a script when it stands at its
// prompt, and tells bytes, and how each script ended.

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
  /** What shells save for each other, where it outlives them; null where it is gone with the sandbox. */
  readonly stateFile: string | null
  /** How many the session may have; null where nobody holds it to a number. */
  readonly processes: number | null
}
export type ShellEvents = {
  readonly onOutput: (bytes: Buffer) => void
  /** A script ended, with the status and where the shell stands now. */
  readonly onEnded: (prompt: Prompt) => void
  /** The shell itself ended, and another one takes its place: with folder, functions and exported variables if it could save them. */
  readonly onReplaced: (isSaved: boolean) => void
  /** The terminal is gone, with everything in it. */
  readonly onGone: (reason: string) => void
}

const COLUMNS = 200
const ROWS = 50
/** How long a new shell may take to its first prompt, and a shell at its prompt to open the pipe. */
const READY_MS = 15_000
/** So near to the most that a session may have, no command can be expected to start a program. */
const CROWDED_SHARE = 0.9
/** Programs that start each other until they are refused come and go: they are counted this often. */
const COUNTS = 5
const COUNT_EVERY_MS = 10

/** As its calls know it. */
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
  /** The shell itself, which has the terminal when it stands at its prompt. */
  #shellGroup: number | null = null
  /** What starts a new shell when one ends. */
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
    // Without an encoding the terminal gives bytes, which its types do not know.
    this.#terminal.onData((data) => scanner.push(data as unknown as Buffer))
    this.#terminal.onExit(({ exitCode, signal }) =>
      this.#gone(`the session ended (${exitCode}, signal ${signal ?? 0})`),
    )
  }

  get isRunning(): boolean {
    return this.#state === 'running'
  }

  /** Null when it is gone. */
  get pid(): number | null {
    return this.#state === 'gone' ? null : this.#terminal.pid
  }

  get prompt(): Prompt | null {
    return this.#prompt
  }

  /** Whether more runs in the session than its shell: a command, or something that a command left in the background. */
  get hasWork(): boolean {
    if (this.#state === 'gone') return false
    return this.#state === 'running' || countDescendants(this.#terminal.pid) > this.#atRest
  }

  /** Whether what was left in the background takes all the processes that the session may have. */
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

  /** Rejects when the shell does not come to its prompt. */
  async ready(): Promise<void> {
    const timeout = delay(READY_MS, 'late', { ref: false })
    if ((await Promise.race([this.#ready.promise, timeout])) === 'late')
      throw new Error(`no prompt within ${READY_MS} ms`)
  }

  /**
   * Only at the prompt. Resolves when the shell has the script, of which nothing is left outside it. `onTaken` is called when
   * the shell begins to read it: whatever fails before that, nothing of it was run.
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
      // A shell that dies while it reads closes the pipe: its end is told by the terminal.
      pipe.on('error', () => resolve())
      pipe.on('close', () => resolve())
      pipe.end(callSource(this.#launch.nonce, call, statusBefore))
    })
  }

  /** To what runs. */
  type(text: string): void {
    this.#terminal.write(text)
  }

  /** The program in the foreground ends. Never the shell itself, which has the terminal between two programs: its variables would go with it. */
  killProgram(): void {
    const group = this.#state === 'gone' ? null : foregroundGroup(this.#terminal.pid)
    const isShell = group === this.#shellGroup || group === this.#starter
    if (group !== null && !isShell && !isChild(group, this.#starter)) signalGroup(group, 'SIGKILL')
  }

  /** Interrupted, it goes back to its prompt; killed, it is followed by another one without anything of it. */
  signalShell(signal: 'SIGINT' | 'SIGKILL'): void {
    if (this.#state !== 'gone' && this.#shellGroup !== null) signalGroup(this.#shellGroup, signal)
  }

  pause(): void {
    if (this.#state !== 'gone') this.#terminal.pause()
  }

  resume(): void {
    if (this.#state !== 'gone') this.#terminal.resume()
  }

  /** Everything in the session ends. */
  end(): void {
    if (this.#state === 'gone') return
    // One by one: without a sandbox nothing else would end what a command left behind.
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
        // Nobody reads yet.
        if (!isCode(error, 'ENXIO') || performance.now() > until) throw error
        await delay(1)
      }
    }
  }

  #output(bytes: Buffer): void {
    // Before its first prompt the shell says nothing that belongs to a command; after it all is output, a background job's too.
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
      // Killed at its prompt: the next one is not there yet.
      this.#state = 'starting'
      this.#ready = awaited()
    }
  }

  #prompted(prompt: Prompt): void {
    const status = this.#endedWith ?? prompt.status
    this.#shellGroup = foregroundGroup(this.#terminal.pid)
    this.#prompt = { ...prompt, status }
    if (this.#state === 'running') {
      // A prompt that was on its way when the script was typed.
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

  /** `kill -9 -1` spares the shell that says it and not what started that: the terminal ends a moment later, with whatever is run then. */
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
  // Whoever waits sees the failure; nobody may be waiting.
  promise.catch(() => {})
  return { promise, settle }
}

/** Of what starts shells: one that has just begun. */
const isChild = (pid: number, parent: number | null): boolean => parent !== null && parentOf(pid) === parent
