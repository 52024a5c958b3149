// The output of programs before `timeout` stopped them. The interpreter discards the output of a stopped command, so
// the code that still has it stores it here for the `timeout`.

/** The output is one character per byte, errors are text. */
export type CommandOutput = { stdout: string; stderr: string }
type Waiting = CommandOutput & { isLaid: boolean; isStopping: boolean }

export class StoppedOutput {
  readonly #waiting: Waiting[] = []

  /** Output stored from now on is for the latest caller. */
  begin(): Waiting {
    const written = { stdout: '', stderr: '', isLaid: false, isStopping: false }
    this.#waiting.push(written)
    return written
  }

  /** Then the interpreter's message about being stopped is not part of the script's output. */
  get isStopping(): boolean {
    return this.#waiting.some((written) => written.isStopping)
  }

  end(written: Waiting): void {
    this.#waiting.splice(this.#waiting.indexOf(written), 1)
  }

  /** False if there is no caller, and then `write` is not called. */
  lay(write: () => CommandOutput): boolean {
    const written = this.#waiting.at(-1)
    if (!written) return false
    const { stdout, stderr } = write()
    written.isLaid = true
    written.stdout += stdout
    written.stderr += stderr
    return true
  }
}
