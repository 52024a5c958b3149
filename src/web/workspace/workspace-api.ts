// The requests of the workspace page.

import { createTwoFilesPatch, diffArrays } from 'diff'
import { strToU8, zipSync } from 'fflate'
import { ApiError, request, sendJson } from '../api.ts'
import { say } from '../texts.ts'

export type Change = { status: 'A' | 'D' | 'M' | 'U'; path: string }
export type Texts = { original: string; modified: string }

const place = (id: string, tail: string): string => `/api/conversations/${encodeURIComponent(id)}/${tail}`

export const listFolder = (id: string, path: string) =>
  request<string[]>(place(id, `list-files${path === '' ? '' : `?path=${encodeURIComponent(path)}`}`))

export const readText = async (id: string, path: string): Promise<string> =>
  (await request<{ code: string }>(place(id, `select-file?file=${encodeURIComponent(path)}`))).code

/** Like `readText`; null if the file does not exist any more. */
export const textNow = (id: string, path: string): Promise<string | null> =>
  readText(id, path).catch((error: unknown) => {
    // This text distinguishes a missing file from one that cannot be read.
    if (error instanceof ApiError && error.message.includes('No such file:')) return null
    throw error
  })

const END = /\r\n|\r|\n/

/** With the line ends of a text field, which has only one kind. */
export const inLines = (text: string): string => text.replaceAll(new RegExp(END, 'g'), '\n')

/** The lines with the file's line ends, so that an edit changes no other line. */
export function withEndsOf(file: string, lines: string): string {
  const ends = file.match(new RegExp(END, 'g')) ?? []
  const first = ends[0] ?? '\n'
  if (ends.every((end) => end === first)) return lines.replaceAll('\n', first)
  let at = 0
  const all = diffArrays(file.split(END), lines.split('\n')).flatMap(({ value, added, removed }) => {
    const theirs = added ? [] : ends.slice(at, at + value.length)
    if (!added) at += value.length
    return removed ? [] : value.map((line) => line + (added ? first : (theirs.shift() ?? first)))
  })
  // The last line has no end.
  const last = all.pop() ?? ''
  return [...all, last.replace(END, '')].join('')
}

export const zipAddress = (id: string): string => place(id, 'zip-directory')

/** Stores a text at its path: an archive keeps folders and all letters of a name, an upload of a single file does not. */
export async function saveText(id: string, path: string, text: string): Promise<void> {
  const archive = zipSync({ [path]: [strToU8(text), { level: 0 }] })
  const form = new FormData()
  form.append('files', new File([archive as Uint8Array<ArrayBuffer>], 'save.zip'))
  const answer = await request<{ skipped_files: { reason: string }[] }>(place(id, 'upload-files?unpack=true'), {
    method: 'POST',
    body: form,
  })
  const refused = answer.skipped_files[0]
  if (refused !== undefined) throw new Error(say('Not stored: {reason}', { reason: refused.reason }))
}

export const listChanges = (id: string) => request<Change[]>(place(id, 'git/changes'))
export const textsOf = (id: string, path: string) =>
  request<Texts>(place(id, `git/diff?exact=true&path=${encodeURIComponent(path)}`))

/** Without the names of the files. */
export function diffOf({ original, modified }: Texts): string {
  const patch = createTwoFilesPatch('a', 'b', original, modified, '', '', { context: 4 })
  return patch.slice(Math.max(0, patch.indexOf('@@')))
}

/** Deletes a new file, as a command of the user in the conversation. */
export function removeFile(id: string, path: string): Promise<unknown> {
  const quoted = `'/workspace/${path.replaceAll("'", `'\\''`)}'`
  const action = { action: 'run', args: { command: `rm -f -- ${quoted}` } }
  return request(place(id, 'events'), sendJson('POST', action))
}

export type Port = { address: string; port: number }

export async function listPorts(id: string): Promise<Port[]> {
  const { hosts } = await request<{ hosts: Record<string, number> }>(place(id, 'web-hosts'))
  return Object.entries(hosts)
    .map(([address, port]) => ({ address, port }))
    .sort((a, b) => a.port - b.port)
}

export const closePort = (id: string, port: number) =>
  request<unknown>(place(id, `web-hosts/${port}`), { method: 'DELETE' })

/** Null if a terminal is possible; otherwise why not, and what to do. */
export async function whyNoTerminal(id: string): Promise<string | null> {
  return (await request<{ reason: string | null }>(place(id, 'terminal'))).reason
}

export const startAgain = (id: string) => request<unknown>(place(id, 'start'), sendJson('POST', {}))

export function terminalAddress(id: string, query: Readonly<Record<string, string>>): string {
  const address = new URL(place(id, `terminal?${new URLSearchParams(query)}`), location.href)
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  return address.href
}
