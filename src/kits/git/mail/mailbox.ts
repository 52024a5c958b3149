// Parses mails with patches: author, date, commit message and patch.

import { textOf, utf8 } from '../bytes.ts'
import { parseDate } from '../identity.ts'
import { bytesOfBase64, bytesOfQuoted, decodedHeader, inCharset } from './headers.ts'

export interface PatchMail {
  name: string
  email: string
  date: { seconds: number; zone: string } | null
  /** Empty for a mail without one. */
  subject: string
  /** Without the subject. */
  body: string
  patch: string
}

/** Null if it is not a mail. */
export function splitMailbox(text: string): string[] | null {
  const plain = text.replaceAll('\r\n', '\n')
  const first = plain.replace(/^\n+/, '')
  if (/^From \S+/.test(first))
    return first.split(/^(?=From \S+ .*\d{2}:\d{2}:\d{2} \d{4}$)/m).filter((part) => part.trim() !== '')
  return /^[A-Za-z][\w-]*: /.test(first) ? [first] : null
}

export function parseMail(text: string, { keepsSubject = false } = {}): PatchMail {
  const start = text.startsWith('From ') ? text.indexOf('\n') + 1 : 0
  const end = text.indexOf('\n\n', start)
  const headers = headersOf(end < 0 ? text.slice(start) : text.slice(start, end + 1))
  const content = decodedContent(end < 0 ? '' : text.slice(end + 2), headers)
  const { lines, patch } = partsOf(content)
  const inside = insideHeaders(lines)
  const from = inside.get('from') ?? headers.get('from') ?? ''
  const date = inside.get('date') ?? headers.get('date') ?? null
  const subject = inside.get('subject') ?? headers.get('subject') ?? ''
  return {
    ...whoOf(from),
    date: date === null ? null : parseDate(date),
    subject: keepsSubject ? subject.trim() : cleanSubject(subject),
    body: lines.join('\n').trim() === '' ? '' : lines.join('\n').replace(/^\n+|\s+$/g, ''),
    patch,
  }
}

function headersOf(text: string): Map<string, string> {
  const headers = new Map<string, string>()
  for (const line of text.replace(/\n[ \t]+/g, ' ').split('\n')) {
    const match = /^([A-Za-z][\w-]*):\s*(.*)$/.exec(line)
    if (match && !headers.has((match[1] ?? '').toLowerCase()))
      headers.set((match[1] ?? '').toLowerCase(), decodedHeader(match[2] ?? ''))
  }
  return headers
}

function decodedContent(text: string, headers: ReadonlyMap<string, string>): string {
  const how = headers.get('content-transfer-encoding')?.toLowerCase()
  const charset = /charset="?([^";\s]+)/i.exec(headers.get('content-type') ?? '')?.[1] ?? 'utf-8'
  if (how === 'base64') return inCharset(bytesOfBase64(text), charset)
  if (how === 'quoted-printable') return inCharset(bytesOfQuoted(text), charset)
  return /^utf-?8$/i.test(charset) ? text : inCharset(utf8(textOf(utf8(text))), charset)
}

/** The message ends at the start of a patch, or at a line of three dashes. */
function partsOf(content: string): { lines: string[]; patch: string } {
  const all = content.split('\n')
  const at = all.findIndex(
    (line, i) => (/^---(\s*$| \S)/.test(line) && isEndOfMessage(all, i)) || /^(diff -|Index: )/.test(line),
  )
  if (at < 0) return { lines: all, patch: '' }
  return { lines: all.slice(0, at), patch: all.slice(at).join('\n') }
}

function isEndOfMessage(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? ''
  return /^---\s*$/.test(line) || (lines[at + 1] ?? '').startsWith('+++ ')
}

/** Lines at the top of the message that override the headers; they are removed. */
function insideHeaders(lines: string[]): Map<string, string> {
  const found = new Map<string, string>()
  while (lines[0]?.trim() === '') lines.shift()
  for (let match = inside(lines[0]); match; match = inside(lines[0])) {
    found.set(match.name, match.value)
    lines.shift()
  }
  return found
}

function inside(line: string | undefined): { name: string; value: string } | null {
  const match = /^(From|Date|Subject): (.*)$/.exec(line ?? '')
  if (!match || (match[1] === 'From' && !/<[^>]*>/.test(match[2] ?? ''))) return null
  return { name: (match[1] ?? '').toLowerCase(), value: decodedHeader(match[2] ?? '') }
}

function whoOf(from: string): { name: string; email: string } {
  const [, name = '', email = ''] = /^\s*(.*?)\s*<([^>]*)>/.exec(from) ?? [null, '', from.trim()]
  const plain = name.replace(/^"(.*)"$/s, '$1').replace(/\\(.)/g, '$1')
  return { name: plain === '' ? email : plain, email }
}

/** Without `Re:` and text in brackets at the beginning. */
function cleanSubject(subject: string): string {
  let text = subject.trim()
  for (let before = ''; before !== text; ) {
    before = text
    text = text.replace(/^(re:|:)\s*/i, '').replace(/^\[[^\]]*\]\s*/, '')
  }
  return text.replace(/\s+/g, ' ')
}
