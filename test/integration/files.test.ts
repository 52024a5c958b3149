import JSZip from 'jszip'
import { expect, test } from 'vitest'
import { client } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'

function form(files: [string, string | Uint8Array<ArrayBuffer>][]): FormData {
  const data = new FormData()
  for (const [name, content] of files) data.append('files', new File([content], name))
  return data
}

test('files go up, are listed, read, and worked on by the agent, byte for byte', async () => {
  const chat = await startConversation()
  const upload = await chat.owner.ask(`${chat.path}/upload-files`, {
    method: 'POST',
    body: form([
      ['notes.md', 'one\ntwo'],
      ['../../etc/a b.txt', 'x'],
      ['贵州茅台.csv', 'a,b'],
      ['raw.bin', new Uint8Array([0, 255, 1])],
    ]),
  })
  expect([upload.status, await upload.json()]).toEqual([
    200,
    {
      uploaded_files: ['/workspace/notes.md', '/workspace/a_b.txt', '/workspace/贵州茅台.csv', '/workspace/raw.bin'],
      skipped_files: [],
    },
  ])
  const socket = await chat.connect()
  await chat.post('message', { content: 'mkdir sub && grep -c t notes.md > sub/count; export N=5; cd sub' })
  await chat.post('message', { content: 'pwd; echo $N; cat count; wc -c < ../raw.bin' })
  await socket.until((s) => s.events().filter(({ observation }) => observation === 'run').length === 2)
  const outputs = socket
    .events()
    .filter(({ observation }) => observation === 'run')
    .map(({ content }) => content)
  expect(outputs).toEqual(['', '/workspace/sub\n5\n1\n3'])
  const list = (path = '') => chat.owner.json(`${chat.path}/list-files${path}`)
  expect(await list()).toEqual(['sub/', 'a_b.txt', 'notes.md', 'raw.bin', '贵州茅台.csv'])
  expect(await list('?path=sub')).toEqual(['sub/count'])
  expect(await list('?path=nowhere')).toEqual([])
  expect(await chat.owner.json(`${chat.path}/select-file?file=notes.md`)).toEqual({ code: 'one\ntwo' })
})

test('a file that cannot be shown says why, in the words of the contract', async () => {
  const chat = await startConversation({ initial_user_msg: 'mkdir d' })
  await chat.owner.ask(`${chat.path}/upload-files`, {
    method: 'POST',
    body: form([['bin', new Uint8Array([255, 254])]]),
  })
  await chat.settled()
  const read = async (file: string) => {
    const response = await chat.owner.ask(`${chat.path}/select-file?file=${file}`)
    return [response.status, await response.json()]
  }
  expect(await read('bin')).toEqual([415, { error: 'Unable to open binary file: /workspace/bin' }])
  expect(await read('none')).toEqual([500, { error: "Error opening file: No such file: '/workspace/none'" }])
  expect((await read('d'))[0]).toBe(500)
  for (const bad of ['../etc/passwd', '/etc/passwd', 'a%00b', 'x'.repeat(5000)])
    expect((await read(bad))[0], bad).toBe(422)
  expect((await chat.owner.ask(`${chat.path}/select-file`)).status).toBe(422)
  expect((await chat.owner.ask(`${chat.path}/list-files?path=../..`)).status).toBe(422)
})

test('an upload that is none is refused, and a name without anything usable is skipped by name', async () => {
  const chat = await startConversation()
  const path = `${chat.path}/upload-files`
  const text = new FormData()
  text.append('files', 'just text')
  for (const body of [new FormData(), text]) {
    expect((await chat.owner.ask(path, { method: 'POST', body })).status).toBe(422)
  }
  expect((await chat.owner.ask(path, { method: 'POST', body: { files: [] } })).status).toBe(422)
  const broken = await chat.owner.ask(path, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    body: 'nonsense',
  })
  expect(broken.status).toBe(422)
  const skipped = await chat.owner.json(path, {
    method: 'POST',
    body: form([
      ['..', 'x'],
      ['ok.txt', 'x'],
      ['ok.txt', 'y'],
    ]),
  })
  expect(skipped).toMatchObject({
    uploaded_files: ['/workspace/ok.txt'],
    skipped_files: [{ name: '..' }, { name: 'ok.txt' }],
  })
  const stranger = await client()
  expect((await stranger.ask(path, { method: 'POST', body: form([['a', 'b']]) })).status).toBe(404)
})

test('the workspace comes down as a ZIP that an independent reader opens, links, modes and bytes included', async () => {
  const chat = await startConversation()
  const noise = crypto.getRandomValues(new Uint8Array(60_000))
  const large = new Uint8Array(1_500_000).fill(7)
  await chat.owner.ask(`${chat.path}/upload-files`, {
    method: 'POST',
    body: form([
      ['noise.bin', noise],
      ['large', large],
      ['café 你好.txt', 'é'],
    ]),
  })
  await chat.post('message', { content: 'mkdir -p a/b empty; echo hi > a/b/c; chmod 755 a/b/c; ln -s a/b/c link' })
  await chat.settled()
  const response = await chat.owner.ask(`${chat.path}/zip-directory`)
  expect([response.status, response.headers.get('content-type'), response.headers.get('content-disposition')]).toEqual([
    200,
    'application/zip',
    'attachment; filename="workspace.zip"',
  ])
  const zip = await JSZip.loadAsync(await response.arrayBuffer())
  expect(Object.keys(zip.files).sort()).toEqual(['a/b/c', 'café_你好.txt', 'large', 'link', 'noise.bin'])
  expect(await zip.file('noise.bin')?.async('uint8array')).toEqual(noise)
  expect((await zip.file('large')?.async('uint8array'))?.length).toBe(1_500_000)
  expect(await zip.file('a/b/c')?.async('string')).toBe('hi\n')
  expect(zip.file('a/b/c')?.unixPermissions).toBe(0o100755)
  expect(await zip.file('link')?.async('string')).toBe('a/b/c')
  expect((await (await client()).ask(`${chat.path}/zip-directory`)).status).toBe(404)
})
