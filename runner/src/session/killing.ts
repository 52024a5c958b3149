// Ends a command that does not end by itself, the mildest way first. It belongs to the command: the call that wanted it may be over.

import type { Session } from './shell.ts'

type Step = readonly [afterMs: number, (session: Session) => void]

/**
 * A C-c would reach the program alone, and nobody where that is just ending: the shell itself is told, which then runs no next one. On
 * its way to the prompt that would break off what tells of it, so there is more time from one to the next.
 */
const breakOff = (session: Session) => {
  session.signalShell('SIGINT')
  session.killProgram()
}
const killShell = (session: Session) => session.signalShell('SIGKILL')
const end = (session: Session) => session.end()

/** With the shell all variables go, so it has its time, as on a busy machine. */
const STEPS: readonly Step[] = [
  [500, breakOff],
  [1_500, breakOff],
  [2_500, breakOff],
  [3_000, killShell],
  [5_000, end],
]
const URGENT_STEPS: readonly Step[] = [
  [500, breakOff],
  [1_000, killShell],
  [500, end],
]

export class Killing {
  #timer: NodeJS.Timeout | null = null
  #isUrgent = false

  /** The program in the foreground; a loop that starts the next one; its shell; the whole session. `isUrgent`: the machine cannot wait. */
  begin(session: Session, isUrgent: boolean): void {
    if (this.#timer !== null && (this.#isUrgent || !isUrgent)) return
    this.over()
    this.#isUrgent = isUrgent
    session.killProgram()
    this.#run(session, isUrgent ? URGENT_STEPS : STEPS)
  }

  /** The command has ended, or the session. */
  over(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#isUrgent = false
  }

  #run(session: Session, [next, ...rest]: readonly Step[]): void {
    if (next === undefined) {
      this.over()
      return
    }
    const [afterMs, step] = next
    this.#timer = setTimeout(() => {
      step(session)
      // It may have ended with this.
      if (this.#timer !== null) this.#run(session, rest)
    }, afterMs)
  }
}
