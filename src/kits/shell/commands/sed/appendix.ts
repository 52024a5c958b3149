// The text that `a`, `r` and `R` append to a line: texts, files, and single lines of a file.

import { isFileError } from '../../../../workspace/file-system.ts'
import type { ShellCall } from '../../shell-extensions.ts'
import { readText } from '../text-files.ts'
import type { LineWriter } from './output.ts'

type Part = { kind: 'a' | 'r' | 'R'; text: string }

export class Appendix {
  readonly #call: ShellCall
  readonly #target: LineWriter
  #parts: Part[] = []
  /** The remaining lines of files that are read line by line. */
  readonly #left = new Map<string, string[]>()

  constructor(call: ShellCall, target: LineWriter) {
    this.#call = call
    this.#target = target
  }

  add(kind: Part['kind'], text: string): void {
    this.#parts.push({ kind, text })
  }

  /** Returns a promise if files must be read. */
  write(): Promise<void> | null {
    if (this.#parts.length === 0) return null
    const parts = this.#parts
    this.#parts = []
    if (parts.some(({ kind }) => kind !== 'a')) return this.#writeAll(parts)
    for (const { text } of parts) this.#target.added(text)
    return null
  }

  async #writeAll(parts: readonly Part[]): Promise<void> {
    for (const { kind, text } of parts) {
      if (kind === 'a') this.#target.added(text)
      else if (kind === 'r') this.#target.added(await this.#contents(text))
      else {
        const line = (await this.#lines(text)).shift()
        if (line !== undefined) this.#target.line(line)
      }
    }
  }

  /** An unreadable file is treated as empty. */
  async #contents(name: string): Promise<string> {
    try {
      return await readText(this.#call, name)
    } catch (error) {
      if (isFileError(error)) return ''
      throw error
    }
  }

  async #lines(name: string): Promise<string[]> {
    const known = this.#left.get(name)
    if (known) return known
    const text = await this.#contents(name)
    const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
    this.#left.set(name, lines)
    return lines
  }
}
