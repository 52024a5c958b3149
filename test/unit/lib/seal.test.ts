import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromBase64, type SealKeys, seal, toBase64Url, unseal } from '../../../src/lib/crypto.ts'

const rootKey = (fill: number) => btoa(String.fromCharCode(...new Uint8Array(32).fill(fill)))
const keys: SealKeys = { current: rootKey(1), previous: null }

test('what is sealed opens again under the same key and context, whatever the text, and never looks twice the same', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', '\u0000', '\ufeffmark', '密钥\n', 'x'.repeat(300_000)),
  )
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.string()), async (secret, context) => {
      const sealed = await seal(keys, secret, context)
      expect(await unseal(keys, sealed, context)).toEqual({ ok: true, text: secret, isStale: false })
      expect(await seal(keys, secret, context)).not.toBe(sealed)
      if (secret.length > 12) expect(sealed).not.toContain(secret)
    }),
    { numRuns: 60 },
  )
})

test('a sealed text opens in no other context, not even in one that reads alike', async () => {
  const sealed = await seal(keys, 'hush', ['secret', 'ann', 'TOKEN'])
  const others = [[], ['secret', 'ann'], ['secret', 'bob', 'TOKEN'], ['secret', 'annTOKEN'], ['secret', 'ann,TOKEN']]
  for (const context of others) {
    expect(await unseal(keys, sealed, context)).toEqual({ ok: false, reason: 'tampered' })
  }
})

test('every changed byte is noticed, and what is no sealed text is told as such', async () => {
  const context = ['settings', 'ann', 'llmApiKey']
  const sealed = await seal(keys, 'sk-canary', context)
  const [version, id, body = ''] = sealed.split('.')
  const bytes = fromBase64(body) ?? new Uint8Array()
  for (let at = 0; at < bytes.length; at++) {
    const changed = bytes.with(at, (bytes[at] ?? 0) ^ 1)
    const text = `${version}.${id}.${toBase64Url(changed)}`
    expect([at, await unseal(keys, text, context)]).toEqual([at, { ok: false, reason: 'tampered' }])
  }
  const cut = `${version}.${id}.${toBase64Url(bytes.slice(0, -1))}`
  expect(await unseal(keys, cut, context)).toEqual({ ok: false, reason: 'tampered' })
  for (const text of ['', 'sk-plain', `v2.${id}.${body}`, `v1.${id}.`, `v1.${id}.AAAA`, `v1.${id}.${body} `]) {
    expect([text, await unseal(keys, text, context)]).toEqual([text, { ok: false, reason: 'malformed' }])
  }
})

test('after a change of keys the previous one still opens and says so; any other key is named as the trouble', async () => {
  const sealed = await seal(keys, 'hush', ['a'])
  const rotated: SealKeys = { current: rootKey(2), previous: rootKey(1) }
  expect(await unseal(rotated, sealed, ['a'])).toEqual({ ok: true, text: 'hush', isStale: true })
  const again = await seal(rotated, 'hush', ['a'])
  expect(await unseal({ current: rootKey(2), previous: null }, again, ['a'])).toEqual({
    ok: true,
    text: 'hush',
    isStale: false,
  })
  const foreign: SealKeys = { current: rootKey(3), previous: rootKey(4) }
  expect(await unseal(foreign, sealed, ['a'])).toEqual({ ok: false, reason: 'unknown_key' })
})
