// `process.stdout` and `process.stderr`: no terminal.

import { EventEmitter } from 'node:events'
import { write } from './output.ts'

type WriteCallback = () => void
const isDone = (given: unknown): given is WriteCallback => typeof given === 'function'

const COLUMNS = 80
const ROWS = 24

function stream(fd: 1 | 2) {
  const decoder = new TextDecoder()
  const made = Object.assign(new EventEmitter(), {
    fd,
    writable: true,
    columns: COLUMNS,
    rows: ROWS,
    write(text: string | Uint8Array, encoding?: unknown, callback?: unknown): boolean {
      write(fd, typeof text === 'string' ? text : decoder.decode(text, { stream: true }))
      const done = isDone(encoding) ? encoding : callback
      if (isDone(done)) setTimeout(done, 0)
      return true
    },
    end(...given: unknown[]): void {
      const [text] = given
      if (typeof text === 'string' || text instanceof Uint8Array) made.write(text)
      given.find(isDone)?.()
    },
    cork() {},
    uncork() {},
    getColorDepth: () => 1,
    hasColors: () => false,
    getWindowSize: () => [COLUMNS, ROWS],
    _write(text: string | Uint8Array, _encoding: unknown, done: WriteCallback): void {
      made.write(text)
      done()
    },
  })
  return made
}

export const stdout = stream(1)
export const stderr = stream(2)
