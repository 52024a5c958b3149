// What programs had written when `timeout` stopped them. The interpreter takes nothing from a command that was stopped, so
// whoever still has its output lays it down here, and the `timeout` that stopped it takes it up.

/** The output is one character a byte, errors are text. */
export type CommandOutput = { stdout: string; stderr: string }
type Waiting = CommandOutput & { isLaid: boolean; isStopping: boolean }

export class StoppedOutput {
  readonly #waiting: Waiting[] = []

  /** From now on what is laid down is for whoever asked last. */
  begin(): Waiting {
    const written = { stdout: '', stderr: '', isLaid: false, isStopping: false }
    this.#waiting.push(written)
    return written
  }

  /** What the interpreter says of being stopped is no text of the script's then. */
  get isStopping(): boolean {
    return this.#waiting.some((written) => written.isStopping)
  }

  end(written: Waiting): void {
    this.#waiting.splice(this.#waiting.indexOf(written), 1)
  }

  /** False when nobody waits, and then nothing is asked for. */
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
