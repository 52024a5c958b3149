// The message for a user about a failed tool server. Of an answer's body it contains only the message of a protocol error:
// the rest could contain secrets.

import { DoorError } from '../lib/guarded-fetch.ts'

const MAX_MESSAGE_CHARS = 500

/** A failure whose message is already meant for people. */
export class McpFailure extends Error {
  override readonly name = 'McpFailure'
}

export function explainFailure(error: unknown): string {
  for (const cause of chain(error)) {
    if (cause instanceof McpFailure || cause instanceof DoorError) return cause.message
  }
  if (!(error instanceof Error)) return 'The server cannot be used'
  if (error instanceof SyntaxError) return 'The server answers with something that is not JSON'
  if ('issues' in error) return 'The server answers with something that is not a message of the protocol'
  if (error.name === 'McpError') return protocolError(error.message)
  const status = 'code' in error && typeof error.code === 'number' ? error.code : null
  if (status !== null && status >= 300 && status < 600) return statusMessage(status)
  if (/endpoint origin/i.test(error.message)) return 'The server wants its messages sent to another host'
  if ('event' in error && status === null) return 'The server closes the connection without an answer'
  if (/content type/i.test(error.message)) return 'The server answers with something that is not the protocol'
  if (/protocol version/.test(error.message)) return 'The server speaks another version of the protocol'
  return 'The server cannot be reached'
}

function* chain(error: unknown): Generator<unknown> {
  for (let at = error, depth = 0; at !== undefined && depth < 5; depth++) {
    yield at
    at = at instanceof Error ? at.cause : undefined
  }
}

function protocolError(message: string): string {
  const text = message.replace(/^MCP error -?\d+: /, '').trim()
  return text === '' ? 'The server answers with an error' : text.slice(0, MAX_MESSAGE_CHARS)
}

function statusMessage(status: number): string {
  if (status === 401 || status === 403) return `The server wants another key (status ${status})`
  if (status === 404 || status === 405) return `There is no tool server at this address (status ${status})`
  return status < 400
    ? `The server sends its callers elsewhere (status ${status})`
    : `The server fails (status ${status})`
}
