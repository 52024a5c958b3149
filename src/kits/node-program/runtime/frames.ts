// The frames of errors, as a program's author is to see them.

import { inspect } from 'node:util'

let heads: Readonly<Record<string, number>> = {}

/** How far the first line of each file is moved by what stands in front of it. */
export function setHeads(given: Readonly<Record<string, number>>): void {
  heads = given
}

/** Frames of what runs the program. */
const OURS = /^\s+at .*(\bbellwether\/|node-internal:|\basync Run\.|\bRun\.run )/
const ROOTS = /(\(|at (?:async )?)((?:workspace|tmp|home)\/)/g
const FIRST_LINES = /(\/[^\s():]+):1:(\d+)/g

/** Paths as the workspace has them, without the frames of what runs the program. */
export function placed(text: string): string {
  const kept: string[] = []
  for (const line of text.split('\n')) {
    if (!OURS.test(line)) kept.push(line)
    // What else is known of the error begins behind its last frame.
    else if (line.endsWith(' {') && kept.length > 0) kept.push(`${kept.pop()} {`)
  }
  return kept.join('\n').replace(ROOTS, '$1/$2').replace(FIRST_LINES, inOwnLine)
}

function inOwnLine(all: string, path: string, column: string): string {
  const head = heads[path]
  return head === undefined ? all : `${path}:1:${Math.max(1, Number(column) - head)}`
}

export function shownError(error: Error): string {
  const text = inspect(error)
  return placed(text.includes(error.message) ? text : `${error.name}: ${error.message}\n${text}`)
}
