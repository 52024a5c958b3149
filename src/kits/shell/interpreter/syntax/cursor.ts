// A moving position in a text.

import { unmatched } from './problems.ts'

export class Cursor {
  readonly text: string
  at = 0

  constructor(text: string) {
    this.text = text
  }

  to(sign: string, from: number): void {
    const end = this.text.indexOf(sign, from)
    if (end < 0) throw unmatched(sign, from - 1)
    this.at = end + 1
  }

  toLineEnd(): void {
    const end = this.text.indexOf('\n', this.at)
    this.at = end < 0 ? this.text.length : end
  }

  skip(pattern: RegExp): void {
    this.at += this.match(pattern)?.[0].length ?? 0
  }

  match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at
    return pattern.exec(this.text)
  }
}
