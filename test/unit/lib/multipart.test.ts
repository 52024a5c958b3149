import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundaryOf, formParts, MultipartError } from '../../../src/workspace/upload-form.ts'

const encoder = new TextEncoder()

type Read = { name: string; filename: string | null; contents: string }

/** Latin-1, so that every byte is one letter. */
const letters = (bytes: Uint8Array) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
const bytesOf = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0))

async function* inPieces(whole: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let from = 0, i = 0; from < whole.byteLength; i++) {
    const size = sizes.length === 0 ? whole.byteLength : (sizes[i % sizes.length] ?? 1)
    yield whole.slice(from, from + size)
    from += size
  }
}

async function read(body: Uint8Array, boundary: string, sizes: readonly number[] = []): Promise<Read[]> {
  const found: Read[] = []
  for await (const { name, filename, contents } of formParts(inPieces(body, sizes), boundary)) {
    let text = ''
    for await (const piece of contents) text += letters(piece)
    found.push({ name, filename, contents: text })
  }
  return found
}

/** What stands in a form with one part that has these headers. */
const withHeaders = (headers: string) => read(encoder.encode(`--b\r\n${headers}\r\n\r\nx\r\n--b--`), 'b')

test('whatever is in the parts and wherever the network cuts them, names and bytes are what was sent', async () => {
  const piece = fc.constantFrom('\r\n', '\r', '\n', '--', '--b', '\r\n--', '\r\n-', 'b', 'text', '\0\xff', '')
  const contents = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('').replaceAll('\r\n--b', '\r\n--c'))
  const part = fc.record({
    name: fc.constantFrom('files', 'other', 'a b'),
    filename: fc.option(fc.constantFrom('a.txt', '', '中文.csv', 'C:\\x\\y', "it's; filename=no", 'say "hi"')),
    contents,
  })
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 5 }),
      sizes,
      fc.constantFrom('', 'preamble', 'x\r\n'),
      async (parts, cuts, preamble) => {
        const chunks = parts.flatMap(({ name, filename, contents }) => {
          const file = filename === null ? '' : `; filename="${filename.replaceAll('"', '\\"')}"\r\nContent-Type: a/b`
          return [
            encoder.encode(`--b\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`),
            bytesOf(contents),
            encoder.encode('\r\n'),
          ]
        })
        const start = preamble === '' || preamble.endsWith('\n') ? preamble : `${preamble}\r\n`
        const body = await new Blob([start, ...chunks, '--b--\r\nepilogue']).bytes()
        expect(await read(body, 'b', cuts)).toEqual(parts)
      },
    ),
    { numRuns: 300 },
  )
})

test('a form that the runtime writes is read as it was meant, parts that nobody reads included', async () => {
  const form = new FormData()
  form.append('text', 'some text')
  form.append('files', new File(['one\r\n'], '中文 a.txt'))
  form.append('files', new File([], 'empty'))
  form.append('files', new File([new Uint8Array(300_000).fill(13)], '..\\x'))
  const response = new Response(form)
  const boundary = boundaryOf(response.headers.get('content-type') ?? '') ?? ''
  const body = new Uint8Array(await response.arrayBuffer())
  const all = await read(body, boundary, [10_000])
  expect(all.map(({ filename, contents }) => [filename, contents.length])).toEqual([
    [null, 9],
    ['中文 a.txt', 5],
    ['empty', 0],
    ['..\\x', 300_000],
  ])
  const names: (string | null)[] = []
  for await (const part of formParts(inPieces(body, [10_000]), boundary)) {
    names.push(part.filename)
    for await (const _ of part.contents) break
  }
  expect(names).toEqual(all.map(({ filename }) => filename))
})

test('names are found however a client writes them', async () => {
  const cases: [headers: string, name: string, filename: string | null][] = [
    ['Content-Disposition: form-data; name="files"; filename="a.txt"', 'files', 'a.txt'],
    ['content-disposition:form-data;name=files;filename=a.txt', 'files', 'a.txt'],
    ['Content-Type: x/y\r\nCONTENT-DISPOSITION: Form-Data; filename="a;b=c.txt"; name="files"', 'files', 'a;b=c.txt'],
    ["Content-Disposition: form-data; name=files; filename*=UTF-8''%E4%B8%AD.txt", 'files', '中.txt'],
    ["Content-Disposition: form-data; name=files; filename=a; filename*=utf-8''b", 'files', 'a'],
    ["Content-Disposition: form-data; name=files; filename*=utf-8''%ff", 'files', '%ff'],
    ['Content-Disposition: form-data; name="files"; name="other"; filename=""', 'files', ''],
    ['Content-Disposition: form-data; name=""', '', null],
  ]
  for (const [headers, name, filename] of cases) {
    expect(await withHeaders(headers), headers).toEqual([{ name, filename, contents: 'x' }])
  }
  const overlong = [
    ...encoder.encode('--b\r\nContent-Disposition: form-data; name=f; filename="'),
    0xc0,
    0xae,
    0xc0,
    0xae,
  ]
  const [part] = await read(Uint8Array.from([...overlong, ...encoder.encode('"\r\n\r\n\r\n--b--')]), 'b')
  expect(part?.filename).toMatch(/^\ufffd+$/)
})

test('what is no form, or breaks off, is refused at the place where it shows', async () => {
  const part = 'Content-Disposition: form-data; name="files"; filename="a"\r\n\r\nx'
  const bad = [
    '',
    'nonsense',
    '--b',
    '--b-',
    `--b\r\n${part}`,
    `--b\r\n${part}\r\n--b`,
    `--b\r\n${part}\r\n--b\r\n`,
    `--bb\r\n${part}\r\n--bb--`,
    `--b\n${part}\n--b--\n`,
    '--b\r\nno headers at all\r\n--b--',
    '--b\r\n\r\nx\r\n--b--',
    '--b\r\nContent-Disposition: form-data; filename="a"\r\n\r\nx\r\n--b--',
    '--b\r\nContent-Disposition: attachment; name="files"\r\n\r\nx\r\n--b--',
    `--b\r\nX: ${'y'.repeat(200_000)}\r\n${part}\r\n--b--`,
  ]
  for (const body of bad) {
    const reading = read(encoder.encode(body), 'b', [1000])
    await expect(reading, body.slice(0, 60)).rejects.toThrow(MultipartError)
  }
  expect(await read(encoder.encode('--b--'), 'b')).toEqual([])
})

test.each([
  ['multipart/form-data; boundary=x', 'x'],
  ['Multipart/Form-Data ; charset=utf-8; BOUNDARY="a b"', 'a b'],
  ['multipart/form-data', null],
  ['multipart/form-data; boundary=', null],
  ['multipart/form-data; boundary=""', null],
  [`multipart/form-data; boundary=${'x'.repeat(201)}`, null],
  ['multipart/form-dataset; boundary=x', null],
  ['multipart/mixed; boundary=x', null],
  ['application/json; boundary=x', null],
])('the boundary of %s is %s', (type, boundary) => {
  expect(boundaryOf(type)).toBe(boundary)
})
