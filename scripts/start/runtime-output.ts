// What of the runtime's output a person who runs the service wants: the Worker's own log lines and real errors.

export type LogLine = { readonly timestamp: number; readonly level: string; readonly message: string }

/**
 * The runtime's own report, with its C++ stack, of a peer that is not there: an upstream without a network, which the
 * Worker logs by name as well, or a client that left in the middle of an answer.
 */
const PEER_GONE = /\bkj\/\S+: (disconnected: |failed: (DNS lookup failed|connect\(\)))/
/** The same of a client whose frames are none. It was told by the close of its socket, and could fill the log. */
const PEER_WRONG = /\bkj\/\S+: failed: \S*jsg\.Error: WebSocket protocol error\b/
/** Of alarms that a killed runtime left behind: they are run again, as they should be. */
const ALARM_REMARK = /^NOSENTRY SQLite alarm (overdue|handler canceled)/

/** Log lines of the Worker are JSON objects; beside them only errors are of interest. */
export function isWanted({ level, message }: LogLine): boolean {
  if (message.startsWith('{"')) return true
  return level === 'error' && !PEER_GONE.test(message) && !PEER_WRONG.test(message) && !ALARM_REMARK.test(message)
}

/** The runtime's report of a database that failed it: what SQLite said, and behind it a stack of addresses. */
const DATABASE_FAILED = /\bSQLite failed; dbErrorMessage\([^)]*\) = ([^\n;]+)/

/** The line to print. */
export function logText({ timestamp, message }: LogLine): string {
  const [, error = null] = DATABASE_FAILED.exec(message) ?? []
  return error === null
    ? message.trimEnd()
    : JSON.stringify({ time: new Date(timestamp).toISOString(), level: 'error', event: 'start.database_failed', error })
}

export function writeLogLine(line: LogLine): void {
  if (isWanted(line)) process.stderr.write(`${logText(line)}\n`)
}
