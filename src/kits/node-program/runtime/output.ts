// What the program writes, until somebody takes it.

import { isSilent } from './ending.ts'
import { type OutputChunks, WATCHED_MARK } from './protocol.ts'

const MAX_OUTPUT_CHARS = 8 * 1024 * 1024

let output: OutputChunks = []
let written = 0
let isWatched = false
/** The runtime's own console prints at once, also from a program that never waits. Where the console is not read, output is reported. */
const native = globalThis.console

export function watchOutput(watched: boolean): void {
  isWatched = watched
}

export function write(stream: 1 | 2, text: string): void {
  if (isSilent() || written > MAX_OUTPUT_CHARS) return
  const room = MAX_OUTPUT_CHARS - written
  written += text.length
  send(stream, text.length > room ? text.slice(0, room) : text)
  // It may be on its way to a file: the loss is told beside it, and by the exit code.
  if (text.length > room) send(2, '\nnode: more than 8 MiB of output; the rest is left out\n')
}

function send(stream: 1 | 2, text: string): void {
  if (isWatched) native.log(WATCHED_MARK + JSON.stringify([stream, text]))
  else output.push([stream, text])
}

export const isOutputCut = () => written > MAX_OUTPUT_CHARS

export function takeOutput(): OutputChunks {
  const taken = output
  output = []
  return taken
}
