// The output of one git command so far.

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
    // A line that ends in a carriage return is overwritten by the next one.
    this.#err += /[\n\r]$/.test(text) || text === '' ? text : `${text}\n`
  }

  /** The output. Bytes are present only if it is not valid text. */
  get output(): { stdout: string; bytes: Uint8Array | null; stderr: string } {
    const isText = this.#out.every((part) => typeof part === 'string')
    const parts = this.#out.map((part) => (typeof part === 'string' ? utf8(part) : part))
    return { stdout: isText ? this.#out.join('') : '', bytes: isText ? null : joinBytes(parts), stderr: this.#err }
  }

  /** Suppresses output, for a command that is part of another one. */
  quietly(): void {
    this.#out = []
    this.#err = ''
  }
}
