import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import JSZip from 'jszip'
import { expect, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { request } from '../helpers/app.ts'
import { type Chat, startConversation } from '../helpers/conversation.ts'
import { craftZip } from '../helpers/crafted-zip.ts'
import { inPieces, pattern, same } from '../unit/workspace/open-store.ts'

type Report = { uploaded_files: string[]; skipped_files: { name: string; reason: string }[] }
type Uploaded = { name: string; content: string | Uint8Array }

const MEBIBYTE = 1024 * 1024
const LINK = 0o120777

const stubOf = (chat: Chat) => conversation(env, chat.owner.owner, chat.id)

async function upload(chat: Chat, files: Uploaded[], query = ''): Promise<Report> {
  const form = new FormData()
  for (const { name, content } of files) form.append('files', new File([content as Uint8Array<ArrayBuffer>], name))
  const response = await chat.owner.ask(`${chat.path}/upload-files${query}`, { method: 'POST', body: form })
  expect(response.status).toBe(200)
  return response.json()
}

/** Sends a body of unknown length, as it comes. */
function send(chat: Chat, parts: AsyncGenerator<Uint8Array>): Promise<Response> {
  const headers = { 'x-session-api-key': chat.owner.key, 'content-type': 'multipart/form-data; boundary=b' }
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await parts.next()
      if (done) controller.close()
      else if (value.byteLength === 0) controller.error(new Error('the client has gone'))
      else controller.enqueue(value)
    },
  })
  return request(`${chat.path}/upload-files`, { method: 'POST', headers, body })
}

/** In place of a piece: the connection breaks. */
const BREAK = new Uint8Array()

const encoder = new TextEncoder()
const header = (name: string) =>
  encoder.encode(`--b\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\n\r\n`)
const END = encoder.encode('\r\n--b--\r\n')

const listed = (chat: Chat, path = '') =>
  chat.owner.json<string[]>(`${chat.path}/list-files${path === '' ? '' : `?path=${encodeURIComponent(path)}`}`)

const zipOf = async (chat: Chat) => {
  const response = await chat.owner.ask(`${chat.path}/zip-directory`)
  expect(response.status).toBe(200)
  return JSZip.loadAsync(await response.arrayBuffer(), { checkCRC32: true })
}

test('files of every size go up and come down the same, though the object is evicted between any two requests', async () => {
  const chat = await startConversation()
  const evict = () => evictDurableObject(stubOf(chat))
  const large = pattern(12 * MEBIBYTE + 1)
  const files = [
    { name: 'large.bin', content: large },
    { name: 'medium.bin', content: pattern(1_500_000, 3) },
    { name: 'crlf.txt', content: 'a\r\n--b\r\n\r\n--' },
    { name: 'empty', content: '' },
  ]
  const paths = files.map(({ name }) => `/workspace/${name}`)
  await evict()
  expect(await upload(chat, files)).toEqual({ uploaded_files: paths, skipped_files: [] })
  await evict()
  expect(await listed(chat)).toEqual(['crlf.txt', 'empty', 'large.bin', 'medium.bin'])
  await evict()
  expect(await chat.owner.json(`${chat.path}/select-file?file=crlf.txt`)).toEqual({ code: 'a\r\n--b\r\n\r\n--' })
  await evict()
  const zip = await zipOf(chat)
  const contents = await Promise.all(files.map(({ name }) => zip.file(name)?.async('uint8array')))
  expect(same(contents[0] ?? new Uint8Array(), large)).toBe(true)
  expect(contents.map((content) => content?.byteLength)).toEqual([12 * MEBIBYTE + 1, 1_500_000, 12, 0])
  await evict()
  expect((await upload(chat, [{ name: 'large.bin', content: 'small now' }])).uploaded_files).toEqual(paths.slice(0, 1))
  await evict()
  expect(await chat.owner.json(`${chat.path}/select-file?file=large.bin`)).toEqual({ code: 'small now' })
  await evict()
  expect((await chat.owner.ask(`${chat.path}/git/changes`)).status).toBe(404)
  await evict()
  await runInDurableObject(stubOf(chat), (_object, { storage }) => {
    expect(storage.sql.exec('SELECT name FROM workspace_nodes WHERE parent = -1').toArray()).toEqual([])
  })
})

test('a workspace that comes down as a ZIP goes up into another one with its folders, bytes, modes and links', async () => {
  const from = await startConversation({
    initial_user_msg:
      'mkdir -p a/b; echo hi > a/b/c; chmod 755 a/b/c; ln -s b/c a/link; seq 5000 > "numbers 1.txt"; ln -s /etc away',
  })
  await from.settled()
  const archive = await (await from.owner.ask(`${from.path}/zip-directory`)).arrayBuffer()
  const to = await startConversation()
  const files = [{ name: 'x.zip', content: new Uint8Array(archive) }]
  expect(await upload(to, files, '?unpack=false')).toEqual({ uploaded_files: ['/workspace/x.zip'], skipped_files: [] })
  const report = await upload(to, files, '?unpack=true')
  expect(report).toEqual({
    uploaded_files: expect.arrayContaining(['/workspace/a/b/c', '/workspace/a/link', '/workspace/numbers 1.txt']),
    skipped_files: [{ name: 'x.zip/away', reason: 'The link leads elsewhere' }],
  })
  const zip = await zipOf(to)
  expect(Object.keys(zip.files).sort()).toEqual(['a/b/c', 'a/link', 'numbers 1.txt', 'x.zip'])
  expect(zip.file('a/b/c')?.unixPermissions).toBe(0o100755)
  expect(zip.file('a/link')?.unixPermissions).toBe(LINK)
  expect(await zip.file('a/link')?.async('string')).toBe('b/c')
  expect(await zip.file('numbers 1.txt')?.async('string')).toMatch(/^1\n2\n3\n(\d+\n)+$/)
  expect((await to.owner.ask(`${to.path}/upload-files?unpack=maybe`, { method: 'POST' })).status).toBe(422)
})

test('archives that were made to do harm are refused or contained, and the answer says which and why', async () => {
  const chat = await startConversation()
  const bomb = craftZip([{ name: 'zeros', data: new Uint8Array(24_000_000), deflated: true }])
  const slips = ['../up', '/abs', 'C:\\x', 'a/../../b', '.git/config', '..\\x', 'nul\0', 'x'.repeat(4097)]
  const cases: Uploaded[] = [
    { name: 'slip.zip', content: craftZip([...slips, 'fine'].map((name) => ({ name, data: 'x' }))) },
    { name: 'bomb.zip', content: bomb },
    { name: 'nested.zip', content: craftZip([{ name: 'inner.zip', data: bomb }]) },
    {
      name: 'overlap.zip',
      content: craftZip([
        { name: 'o', data: 'x' },
        { name: 'o', data: 'x', sameAs: 0 },
      ]),
    },
    {
      name: 'lies.zip',
      content: craftZip([{ name: 'l', data: 'x'.repeat(9000), deflated: true, claims: { size: 9 } }]),
    },
    {
      name: 'links.zip',
      content: craftZip([
        { name: 'l', data: '../../tmp', unixMode: LINK },
        { name: 'l/x', data: '1' },
      ]),
    },
    {
      name: 'twins.zip',
      content: craftZip([
        { name: 't', data: '1' },
        { name: 't', data: '2' },
      ]),
    },
    { name: 'many.zip', content: craftZip(Array.from({ length: 100_000 }, (_, i) => ({ name: `${i}` }))) },
    { name: 'zip64.zip', content: craftZip([{ name: 'z', data: 'z', zip64: true }], { zip64End: true }) },
    { name: 'huge64.zip', content: craftZip([{ name: 'h', data: 'z', zip64: true, claims: { size: 2 ** 52 } }]) },
    { name: 'none.zip', content: 'no archive' },
  ]
  const { uploaded_files, skipped_files } = await upload(chat, cases, '?unpack=true')
  expect(uploaded_files.sort()).toEqual([
    '/workspace/fine',
    '/workspace/inner.zip',
    '/workspace/l/x',
    '/workspace/t',
    '/workspace/z',
  ])
  const reasons = Map.groupBy(skipped_files, ({ name }) => name.split('/')[0])
  expect([...reasons.keys()].sort()).toEqual([
    'bomb.zip',
    'huge64.zip',
    'lies.zip',
    'links.zip',
    'many.zip',
    'none.zip',
    'overlap.zip',
    'slip.zip',
    'twins.zip',
  ])
  expect(reasons.get('slip.zip')).toHaveLength(slips.length)
  expect(reasons.get('bomb.zip')?.[0]?.reason).toMatch(/^It unpacks to more than 200 times/)
  expect(reasons.get('many.zip')).toEqual([
    { name: 'many.zip', reason: expect.stringMatching(/^The archive has too many entries/) },
  ])
  expect(await listed(chat)).toEqual(['l/', 'fine', 'inner.zip', 't', 'z'])
  await runInDurableObject(stubOf(chat), (_object, { storage }) => {
    const outside =
      "SELECT name FROM workspace_nodes WHERE parent IN (-1, (SELECT inode FROM workspace_nodes WHERE name = 'tmp'))"
    expect(storage.sql.exec(outside).toArray()).toEqual([])
  })
})

test('an upload larger than it may be is a 413, whatever length it announced, and leaves nothing', async () => {
  const chat = await startConversation()
  let sent = 0
  const endless = async function* () {
    yield header('endless')
    for (; sent < 100_000_000; sent += 100_000) yield new Uint8Array(100_000)
    yield END
  }
  expect((await send(chat, endless())).status).toBe(413)
  expect(sent).toBeLessThan(100_000_000)
  const announced = await chat.owner.ask(`${chat.path}/upload-files`, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=b', 'content-length': '100000000' },
    body: 'x',
  })
  expect(announced.status).toBe(413)
  expect(await listed(chat)).toEqual([])
})

test('of ten thousand parts as many as may be are stored, the rest told of; more are no upload', async () => {
  const chat = await startConversation()
  const many = (count: number) =>
    async function* () {
      for (let i = 0; i < count; i++) {
        yield header(`${i}`)
        yield encoder.encode('x\r\n')
      }
      yield encoder.encode('--b--')
    }
  const response = await send(chat, many(10_000)())
  expect(response.status).toBe(200)
  const { uploaded_files, skipped_files } = await response.json<Report>()
  expect([uploaded_files.length, skipped_files.length]).toEqual([1000, 9000])
  expect(new Set(skipped_files.map(({ reason }) => reason))).toEqual(new Set(['The upload has more than 1000 files']))
  expect(await listed(chat)).toHaveLength(1000)
  const tooMany = await send(await startConversation({}, chat.owner), many(10_001)())
  expect([tooMany.status, JSON.stringify(await tooMany.json())]).toEqual([
    422,
    expect.stringContaining('too many parts'),
  ])
})

test('names that are one on other systems stay apart, and those that become one are told of', async () => {
  const chat = await startConversation()
  const names = [
    'a.txt',
    'A.TXT',
    'caf\u00e9',
    'cafe\u0301',
    'a/b',
    'c\\b',
    'CON',
    'nul.txt',
    'x'.repeat(4097),
    '\u202egpj.exe',
  ]
  const report = await upload(
    chat,
    names.map((name) => ({ name, content: name })),
  )
  expect(report.skipped_files.map(({ name }) => name)).toEqual(['cafe\u0301', 'c\\b'])
  expect(report.uploaded_files).toEqual(
    ['a.txt', 'A.TXT', 'caf\u00e9', 'b', 'CON', 'nul.txt', 'x'.repeat(255), '_gpj.exe'].map(
      (name) => `/workspace/${name}`,
    ),
  )
})

test('a client that breaks off leaves nothing, and one whose conversation is deleted meanwhile gets a 404', async () => {
  const chat = await startConversation()
  const brokenOff = async function* () {
    yield header('large')
    yield* inPieces(pattern(2 * MEBIBYTE), 100_000)
    yield BREAK
  }
  await send(chat, brokenOff()).catch(() => null)
  expect(await listed(chat)).toEqual([])
  const deleting = async function* () {
    yield header('large')
    yield* inPieces(pattern(7 * MEBIBYTE), 100_000)
    expect((await chat.owner.ask(chat.path, { method: 'DELETE' })).status).toBe(200)
    yield* inPieces(pattern(2 * MEBIBYTE), 100_000)
    yield END
  }
  expect((await send(chat, deleting())).status).toBe(404)
  const prefix = `conversations/${encodeURIComponent(chat.owner.owner)}/`
  await expect.poll(async () => (await env.FILES.list({ prefix })).objects).toEqual([])
})
