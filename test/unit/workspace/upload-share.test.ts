import { expect, test } from 'vitest'
import { readForm } from '../../../src/workspace/upload-form.ts'

const SIZE = 1024 * 1024

test('an upload that has used up its share of the thread is read no further until it may go on', async () => {
  const form = new FormData()
  form.append('files', new File([new Uint8Array(SIZE).fill(120)], 'a.bin'))
  const { headers, body } = new Response(form)
  if (body === null) throw new Error('a form has a body')
  const mayGoOn = Promise.withResolvers<void>()
  let asked = 0
  let received = 0
  const giveWay = () => (++asked === 4 ? mayGoOn.promise : null)
  const all = { contentType: headers.get('content-type') ?? '', body, maxBytes: 10 * SIZE, giveWay }
  const read = readForm(all, async ({ parts }) => {
    for await (const part of parts) received += part.byteLength
  })
  await expect.poll(() => asked).toBe(4)
  // As long as it likes: nothing more comes.
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect([asked, received < SIZE]).toEqual([4, true])
  mayGoOn.resolve()
  expect(await read).toBeNull()
  expect([asked > 4, received]).toEqual([true, SIZE])
})
