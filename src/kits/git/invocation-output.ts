// What one run of the git command has said so far.

import { joinBytes } from '../../lib/bytes.ts'
import { utf8 } from './bytes.ts'

export class InvocationOutput {
  #out: (string | Uint8Array)[] = []
  #err = ''

  out(text: string | Uint8Array): void {
    this.#out.push(text)
  }

  line(text = ''): void {
    this.#out.push(`${text}\n`)
  }

  err(text: string): void {
    // What ends in a carriage return is written over by what comes next.
    this.#err += /[\n\r]$/.test(text) || text === '' ? text : `${text}\n`
  }

  /** What was said. Bytes are there only if some of it was no text. */
  get output(): { stdout: string; bytes: Uint8Array | null; stderr: string } {
    const isText = this.#out.every((part) => typeof part === 'string')
    const parts = this.#out.map((part) => (typeof part === 'string' ? utf8(part) : part))
    return { stdout: isText ? this.#out.join('') : '', bytes: isText ? null : joinBytes(parts), stderr: this.#err }
  }

  /** Output is held back, so that a command can be part of another one. */
  quietly(): void {
    this.#out = []
    this.#err = ''
  }
}
