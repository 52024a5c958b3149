// `-F`: the fields and files of a form, as `multipart/form-data`.

import { joinBytes } from '../../../../lib/bytes.ts'
import { CurlError, EXIT } from './failure.ts'

type ReadFile = (name: string) => Promise<Uint8Array>

export async function formBody(
  { fields, strings, boundary }: { fields: readonly string[]; strings: readonly string[]; boundary: string },
  read: ReadFile,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for (const given of fields) parts.push(...(await partOf(given, boundary, read)))
  for (const given of strings) {
    const [name, value] = pair(given)
    parts.push(encode(`--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"\r\n\r\n${value}\r\n`))
  }
  return joinBytes([...parts, encode(`--${boundary}--\r\n`)])
}

async function partOf(given: string, boundary: string, read: ReadFile): Promise<Uint8Array[]> {
  const [name, whole] = pair(given)
  const isFile = /^[@<]/.test(whole)
  const [value = '', ...more] = whole.startsWith('"') ? [whole] : whole.split(/;(?=(?:type|filename|headers|encoder)=)/)
  const settings = new Map(more.map((each) => pair(each)))
  for (const key of settings.keys())
    if (key !== 'type' && key !== 'filename') throw new CurlError(EXIT.usage, `;${key}= of -F is not available here`)
  const path = value.slice(1)
  const isUpload = value.startsWith('@')
  const fileName = settings.get('filename') ?? (isUpload ? (path.split('/').at(-1) ?? '') : undefined)
  const type = settings.get('type') ?? (isUpload ? typeOf(fileName ?? path) : undefined)
  const head = [
    `--${boundary}`,
    `Content-Disposition: form-data; name="${escaped(name)}"${fileName === undefined ? '' : `; filename="${escaped(fileName)}"`}`,
    ...(type === undefined ? [] : [`Content-Type: ${type}`]),
  ]
  const content = isFile ? await read(path) : encode(value)
  return [encode(`${head.join('\r\n')}\r\n\r\n`), content, encode('\r\n')]
}

function pair(given: string): [string, string] {
  const at = given.indexOf('=')
  if (at < 0) throw new CurlError(EXIT.usage, `-F ${given}: a name and a value have to be given as name=value`)
  return [given.slice(0, at), given.slice(at + 1).replace(/^"([\s\S]*)"$/, '$1')]
}

const escaped = (text: string): string => text.replace(/"/g, '%22').replace(/\r/g, '%0D').replace(/\n/g, '%0A')
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

const TYPES: Record<string, string> = {
  gif: 'image/gif',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  htm: 'text/html',
  html: 'text/html',
  pdf: 'application/pdf',
  xml: 'application/xml',
}

const typeOf = (name: string): string =>
  TYPES[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream'
