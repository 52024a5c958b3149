// One line of a page: with several columns, blanks are written as tabs where possible, and trailing ones are left out.

import { charsOf } from '../bytes.ts'
import type { Numbering } from './settings.ts'

const TAB_STOP = 8

export class Line {
  readonly #usesTabs: boolean
  #shown = ''
  #at = 0
  /** Blanks that are not written yet. */
  #blanks = 0

  constructor(margin: number, usesTabs: boolean) {
    this.#usesTabs = usesTabs
    this.#blank(margin)
  }

  get shown(): string {
    return this.#usesTabs ? this.#shown : this.#shown + ' '.repeat(this.#shown === '' ? 0 : this.#blanks)
  }

  separate(text: string): void {
    this.#flush()
    this.#put(text)
  }

  moveTo(position: number, separator: string): void {
    if (separator.trim() !== '') {
      this.#blank(position - separator.length - this.#at - this.#blanks)
      this.separate(separator)
    } else this.#blank(position - this.#at - this.#blanks)
  }

  number(number: number, { separator, digits }: Numbering): void {
    const text = String(number).slice(-digits)
    this.#blank(digits - text.length)
    this.#flush()
    this.#put(text)
    if (separator === '\t') this.#tab(digits)
    else this.text(separator, 1, false)
  }

  text(text: string, room: number, expands: boolean): void {
    const start = this.#at + this.#blanks
    for (const char of charsOf(text)) {
      const width = char === '\t' && expands ? TAB_STOP - ((this.#at + this.#blanks - start) % TAB_STOP) : 1
      const left = room - (this.#at + this.#blanks - start)
      if (left <= 0) return
      if (this.#usesTabs && (char === ' ' || (char === '\t' && expands))) this.#blank(Math.min(width, left))
      else {
        this.#flush()
        this.#put(char)
      }
    }
  }

  /** Up to the next tab stop after the number. */
  #tab(digits: number): void {
    if (!this.#usesTabs) {
      this.#put('\t')
      return
    }
    this.#blank(TAB_STOP - (digits % TAB_STOP))
  }

  #blank(count: number): void {
    this.#blanks += Math.max(0, count)
  }

  #put(text: string): void {
    this.#shown += text
    this.#at += charsOf(text).length
  }

  #flush(): void {
    const goal = this.#at + this.#blanks
    this.#blanks = 0
    if (this.#usesTabs) {
      for (;;) {
        const next = this.#at + TAB_STOP - (this.#at % TAB_STOP)
        if (goal - this.#at <= 1 || next > goal) break
        this.#shown += '\t'
        this.#at = next
      }
    }
    this.#shown += ' '.repeat(goal - this.#at)
    this.#at = goal
  }
}
