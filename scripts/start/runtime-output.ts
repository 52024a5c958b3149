// What of wrangler's output a person who runs the service wants: the Worker's own log lines and real errors. Its banner,
// its table of bindings, a line for each request and its warnings are for those who develop with it.

import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'

type LineFilter = (line: string) => boolean

/** Passes the wanted lines of both streams on, one by one. */
export function forwardWanted(streams: { stdout: Readable; stderr: Readable }, write: (line: string) => void): void {
  forward(streams.stdout, wantedFromStdout(), write)
  forward(streams.stderr, wantedFromStderr(), write)
}

function forward(stream: Readable, isWanted: LineFilter, write: (line: string) => void): void {
  createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (colored) => {
    const line = stripVTControlCharacters(colored)
    if (isWanted(line)) write(line)
  })
}

/** Log lines are JSON objects; an uncaught error is a marked line, its stack the indented ones that follow. */
export function wantedFromStdout(): LineFilter {
  let insideError = false
  return (line) => {
    insideError = line.startsWith('[wrangler:error]') || (insideError && /^\s+\S/.test(line))
    return insideError || line.startsWith('{"')
  }
}

/**
 * The runtime's own report, with its C++ stack, of a peer that is not there: an upstream without a network, which the
 * Worker logs by name as well, or a client that left in the middle of an answer.
 */
const PEER_GONE = /^✘ \[ERROR\] .*\bkj\/\S+: (disconnected: |failed: (DNS lookup failed|connect\(\)))/

/** A message is a line with its mark, then indented notes; unwanted ones are left out with their notes, and so are blank lines. */
export function wantedFromStderr(): LineFilter {
  let isUnwanted = false
  return (line) => {
    if (line.trim() === '') return false
    if (/^\S/.test(line)) isUnwanted = line.startsWith('▲ [WARNING]') || PEER_GONE.test(line)
    return !isUnwanted
  }
}
