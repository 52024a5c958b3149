import { expect, test } from 'vitest'
import { request } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'

type Item = { loc: (string | number)[] }

const multipart = (boundary: string, parts: string[]) =>
  `${parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}--\r\n`

test('an upload that is no form, or has no files, is a 422 and leaves the workspace empty', async () => {
  const chat = await startConversation()
  const part = 'Content-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nx'
  const bad: [body: string, contentType: string][] = [
    ['', 'multipart/form-data; boundary=b'],
    ['{"files":[]}', 'application/json'],
    [multipart('b', [part]), 'multipart/form-data'],
    [multipart('b', [part]), 'multipart/form-data; boundary=other'],
    [multipart('b', [part]).slice(0, -9), 'multipart/form-data; boundary=b'],
    [multipart('b', []), 'multipart/form-data; boundary=b'],
    [multipart('b', ['Content-Disposition: form-data; name="files"\r\n\r\ntext']), 'multipart/form-data; boundary=b'],
    [multipart('b', [part.replace('files', 'file')]), 'multipart/form-data; boundary=b'],
    [multipart('b', ['no headers at all']), 'multipart/form-data; boundary=b'],
  ]
  for (const [body, contentType] of bad) {
    const headers = { 'x-session-api-key': chat.owner.key, 'content-type': contentType }
    const response = await request(`${chat.path}/upload-files`, { method: 'POST', headers, body })
    expect([body, contentType, response.status]).toEqual([body, contentType, 422])
    const { detail } = await response.json<{ detail: Item[] }>()
    expect(detail[0]?.loc[0]).toBe('body')
  }
  expect(await chat.owner.json(`${chat.path}/list-files`)).toEqual([])
})

test('file names that point elsewhere, hide or break lines are stored as plain names in the workspace', async () => {
  const chat = await startConversation()
  const names = [
    '../../etc/cron',
    'C:\\windows\\a.exe',
    '/abs',
    '\\\\host\\share',
    'a%0D%0Ax-evil: 1',
    'a%00b',
    '%2e%2e%2fx',
    '🦊.txt',
    'x'.repeat(10_000),
    '.git',
    '..',
    '.bashrc',
  ]
  const form = new FormData()
  for (const name of names) form.append('files', new File(['x'], name))
  const response = await chat.owner.ask(`${chat.path}/upload-files`, { method: 'POST', body: form })
  expect([response.status, response.headers.get('x-evil')]).toEqual([200, null])
  type Report = { uploaded_files: string[]; skipped_files: { name: string; reason: string }[] }
  const { uploaded_files, skipped_files } = await response.json<Report>()
  for (const path of uploaded_files) expect(path).toMatch(/^\/workspace\/[\p{L}\p{M}\p{N}._-]{1,255}$/u)
  expect(uploaded_files.length + skipped_files.length).toBe(names.length)
  expect(skipped_files.map(({ name }) => name).sort()).toEqual(['..', '.git'])
  const listed = await chat.owner.json<string[]>(`${chat.path}/list-files`)
  expect(listed.map((name) => `/workspace/${name}`).sort()).toEqual([...new Set(uploaded_files)].sort())
})
