// One line per event: the time, a name, fields. Never a secret or a command's output.

export type LogFields = Readonly<Record<string, string | number | boolean | null>>
export type Log = (event: string, fields?: LogFields) => void

export const logToStderr: Log = (event, fields = {}) => {
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${shownValue(value)}`)
  process.stderr.write(`${[new Date().toISOString(), event, ...shown].join(' ')}\n`)
}

function shownValue(value: string | number | boolean | null): string {
  const text = String(value)
  return /^[\w./:@+-]+$/.test(text) ? text : JSON.stringify(text)
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
