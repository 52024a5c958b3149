// The shell of a terminal: its process in a pseudo-terminal, and its stored output.

import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { type IPty, spawn } from '@lydell/node-pty'
import { SCROLLBACK_BYTES, type TerminalSize } from '../../../src/runners/terminal-wire.ts'
import { type Log, messageOf } from '../log.ts'
import type { Launch } from '../sandbox/launch.ts'
import { countDescendants, killTree } from '../session/processes.ts'
import { isCode } from '../sync/folder.ts'
import { Scrollback } from './scrollback.ts'

export type ShellEvents = {
  readonly log: Log
  readonly onOutput: (bytes: Buffer) => void
  /** With its exit code or signal as text. */
  readonly onExit: (how: string) => void
}

/** The interval between attempts to write to a program that does not read. */
const UNREAD_MS = 10

export class TerminalShell {
  readonly id = randomUUID()
  readonly output = new Scrollback(SCROLLBACK_BYTES)
  readonly #pty: IPty
  readonly #log: Log
  /** The number of its processes when it is idle; null before the first check. */
  #atRest: number | null = null
  #isPaused = false

  constructor({ command, args, env, cwd }: Launch, { cols, rows }: TerminalSize, events: ShellEvents) {
    this.#log = events.log
    this.#pty = spawn(command, args, { name: 'xterm-256color', cols, rows, cwd, env, encoding: null })
    // Without an encoding the terminal returns bytes, unlike its types.
    this.#pty.onData((data) => events.onOutput(data as unknown as Buffer))
    this.#pty.onExit(({ exitCode, signal }) => {
      events.onExit(signal === undefined || signal === 0 ? `exit code ${exitCode}` : `signal ${signal}`)
    })
  }

  get pid(): number {
    return this.#pty.pid
  }

  /** A program is running in it. */
  get isBusy(): boolean {
    return this.#atRest !== null && countDescendants(this.pid) > this.#atRest
  }

  resize({ cols, rows }: TerminalSize): void {
    if (this.#pty.cols === cols && this.#pty.rows === rows) return
    try {
      this.#pty.resize(cols, rows)
    } catch (error) {
      // It has ended, and the event has not arrived yet.
      this.#log('terminal.not_resized', { message: messageOf(error) })
    }
  }

  /** Lets its programs write, or pauses them. */
  flow(isFlowing: boolean): void {
    if (this.#isPaused === !isFlowing) return
    this.#isPaused = !isFlowing
    if (isFlowing) this.#pty.resume()
    else this.#pty.pause()
  }

  /** At the speed of the programs, as long as `isWanted`. */
  async type(bytes: Uint8Array, isWanted: () => boolean): Promise<void> {
    this.#atRest ??= countDescendants(this.pid)
    // Not in its types, but the only way to know how many bytes were accepted.
    const { fd } = this.#pty as IPty & { readonly fd: number }
    for (let at = 0; at < bytes.byteLength && isWanted(); ) {
      try {
        at += writeSync(fd, bytes, at)
      } catch (error) {
        if (isCode(error, 'EAGAIN')) await delay(UNREAD_MS)
        else if (isCode(error, 'EIO') || isCode(error, 'EBADF')) return
        else throw error
      }
    }
  }

  kill(): void {
    killTree(this.pid)
  }
}
