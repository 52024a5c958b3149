// What `a`, `r` and `R` put behind a line: texts, files, and one line after the other of a file.

import { isFileError } from '../../../../workspace/file-system.ts'
import type { ShellCall } from '../../shell-extensions.ts'
import { readText } from '../text-files.ts'
import type { LineWriter } from './output.ts'

type Part = { kind: 'a' | 'r' | 'R'; text: string }

export class Appendix {
  readonly #call: ShellCall
  readonly #target: LineWriter
  #parts: Part[] = []
  /** What is left of the files that are read line by line. */
  readonly #left = new Map<string, string[]>()

  constructor(call: ShellCall, target: LineWriter) {
    this.#call = call
    this.#target = target
  }

  add(kind: Part['kind'], text: string): void {
    this.#parts.push({ kind, text })
  }

  /** Answers a promise when files have to be read. */
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

  /** A file that cannot be read is an empty one. */
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
