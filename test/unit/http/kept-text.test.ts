import { expect, test } from 'vitest'
import { KeptText, takesGzip } from '../../../src/http/kept-text.ts'

const TEXT = JSON.stringify({ text: '茅台 '.repeat(10_000) })

const asked = (accepted?: string) => ({
  request: new Request('http://x/', accepted === undefined ? {} : { headers: { 'accept-encoding': accepted } }),
  contentType: 'application/json',
})

test('a kept text is made once, and comes compressed to whoever takes that, byte for byte the same', async () => {
  const kept = new KeptText()
  let made = 0
  const make = () => {
    made += 1
    return TEXT
  }
  const first = await Promise.all(['gzip', undefined, 'gzip'].map((accepted) => kept.answer(make, asked(accepted))))
  for (const response of [...first, await kept.answer(make, asked('br, gzip;q=0.5'))]) {
    const coding = response.headers.get('content-encoding')
    const bytes = await response.arrayBuffer()
    const unpacked = new Response(bytes).body?.pipeThrough(new DecompressionStream('gzip'))
    expect(coding === null ? new TextDecoder().decode(bytes) : await new Response(unpacked).text()).toBe(TEXT)
    expect(coding === null || bytes.byteLength < 2_000).toBe(true)
    expect([response.headers.get('vary'), response.headers.get('content-type')]).toEqual([
      'accept-encoding',
      'application/json',
    ])
  }
  expect(first.map(({ headers }) => headers.get('content-encoding'))).toEqual(['gzip', null, 'gzip'])
  expect(made).toBe(1)
})

test('who has the text already, packed or not, is not sent it again, and may keep it', async () => {
  const kept = new KeptText()
  const answer = (known: string) => {
    const headers = { 'if-none-match': known, 'accept-encoding': 'gzip' }
    return kept.answer(() => TEXT, { request: new Request('http://x/', { headers }), contentType: 'application/json' })
  }
  const tag = (await kept.answer(() => TEXT, asked())).headers.get('etag') ?? ''
  expect(tag).toMatch(/^W\/"[\w-]{22}"$/)
  for (const known of [tag, tag.slice(2), '*', `"other" , ${tag}`, `W/"other",${tag.slice(2)},"more"`]) {
    const response = await answer(known)
    expect([known, response.status, await response.text()]).toEqual([known, 304, ''])
    expect(['etag', 'cache-control', 'vary'].map((name) => response.headers.get(name))).toEqual([
      tag,
      'no-cache',
      'accept-encoding',
    ])
  }
  for (const known of ['', '"other"', tag.slice(3, -1), 'W/"', '"*"']) {
    expect([known, (await answer(known)).status]).toEqual([known, 200])
  }
  const others = await new KeptText().answer(() => `${TEXT} `, asked())
  expect(others.headers.get('etag')).not.toBe(tag)
})

test('gzip is taken where it is named, and not with a weight of nought', () => {
  for (const accepted of ['gzip', 'br, gzip', 'GZIP;q=0.1', 'deflate , gzip ; q=1.0'])
    expect(takesGzip(accepted)).toBe(true)
  for (const accepted of [null, '', 'br', 'x-gzip', '*', 'gzip;q=0', 'br, gzip; q=0.000']) {
    expect(takesGzip(accepted)).toBe(false)
  }
})
