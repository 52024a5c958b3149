// One JSON line an entry: an event name and fields, never a sentence, never a secret.

const RANK = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 } as const
export type LogLevel = keyof typeof RANK

let threshold: LogLevel = 'info'

/** Sets the lowest level that is written; the configuration does this once. */
export function setLogLevel(level: LogLevel): void {
  threshold = level
}

type Fields = Record<string, unknown>

function write(level: Exclude<LogLevel, 'silent'>, event: string, fields: Fields): void {
  if (RANK[level] < RANK[threshold]) return
  console.log(JSON.stringify({ level, event, ...fields }))
}

export const log = {
  debug: (event: string, fields: Fields = {}) => write('debug', event, fields),
  info: (event: string, fields: Fields = {}) => write('info', event, fields),
  warn: (event: string, fields: Fields = {}) => write('warn', event, fields),
  error: (event: string, fields: Fields = {}) => write('error', event, fields),
}

/** An error as fields for a log line: its message, stack and the chain of causes. */
export function errorFields(error: unknown): Fields {
  if (!(error instanceof Error)) return { error: String(error) }
  const cause = error.cause === undefined ? {} : { cause: errorFields(error.cause) }
  return { error: error.message, stack: error.stack, ...cause }
}
