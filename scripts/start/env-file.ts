const LINE =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm

/** Reads `.dev.vars` as wrangler does when it finds that file by itself: the first pass, without the second. */
export function parseEnvFile(text: string): Record<string, string> {
  const vars: Record<string, string> = {}
  for (const [, name, raw] of text.replace(/\r\n?/g, '\n').matchAll(LINE)) {
    if (name === undefined) continue
    const trimmed = (raw ?? '').trim()
    const bare = trimmed.replace(/^(['"`])([\s\S]*)\1$/gm, '$2')
    vars[name] = trimmed.startsWith('"') ? bare.replace(/\\n/g, '\n').replace(/\\r/g, '\r') : bare
  }
  return vars
}
