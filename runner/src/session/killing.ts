// Ends a command that does not end by itself, with increasingly strong signals. It belongs to the command: the call
// that requested it may be over.

import type { Session } from './shell.ts'

type Step = readonly [afterMs: number, (session: Session) => void]

/**
 * A C-c reaches only the program in the foreground, and no process if that is just ending: so the shell itself is
 * signalled, and runs no further program. During the return to the prompt this would abort the report of the result, so
 * there is more time between two attempts.
 */
const breakOff = (session: Session) => {
  session.signalShell('SIGINT')
  session.killProgram()
}
const killShell = (session: Session) => session.signalShell('SIGKILL')
const end = (session: Session) => session.end()

/** Killing the shell loses all variables, so it gets time as on a busy machine. */
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

  /**
   * First the program in the foreground; then a loop that starts the next one; then its shell; then the whole session.
   * `isUrgent`: the machine cannot wait.
   */
  begin(session: Session, isUrgent: boolean): void {
    if (this.#timer !== null && (this.#isUrgent || !isUrgent)) return
    this.over()
    this.#isUrgent = isUrgent
    session.killProgram()
    this.#run(session, isUrgent ? URGENT_STEPS : STEPS)
  }

  /** The command or the session has ended. */
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
      // The action may have ended it.
      if (this.#timer !== null) this.#run(session, rest)
    }, afterMs)
  }
}
