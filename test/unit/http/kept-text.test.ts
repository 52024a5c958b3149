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

test('gzip is taken where it is named, and not with a weight of nought', () => {
  for (const accepted of ['gzip', 'br, gzip', 'GZIP;q=0.1', 'deflate , gzip ; q=1.0'])
    expect(takesGzip(accepted)).toBe(true)
  for (const accepted of [null, '', 'br', 'x-gzip', '*', 'gzip;q=0', 'br, gzip; q=0.000']) {
    expect(takesGzip(accepted)).toBe(false)
  }
})
