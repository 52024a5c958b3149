import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HIDDEN, Mask } from '../../../src/agent/masking.ts'

const eventOf = (text: string) => ({
  source: 'agent',
  message: text,
  action: 'call_tool_mcp',
  args: { name: 'n', arguments: { [text]: [1, { deep: [text] }] }, thought: text },
  extras: { list: [text, { [text]: null }] },
})
// Words of an event's own shape stay, even where a secret is a part of one.
const isApart = (text: string) => !JSON.stringify(eventOf('')).includes(text)
const canary = fc
  .string({ minLength: 8, maxLength: 40, unit: 'binary' })
  .filter((text) => text.trim().length >= 8 && isApart(text))
const padding = fc.string({ maxLength: 20, unit: fc.constantFrom(' ', 'x', '"', '\\', '\n', '中', '😀', '%', '+') })

function encodings(secret: string): string[] {
  const base64 = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)))
  return [
    secret,
    JSON.stringify(secret),
    JSON.stringify({ inner: JSON.stringify({ key: secret }) }),
    `https://example.com/?q=${encodeURIComponent(secret)}`,
    new URLSearchParams({ q: secret }).toString(),
    base64(secret),
    `Basic ${base64(`user:${secret}`)}`,
    base64(`ab${secret}cd`),
    base64(secret).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
    inAscii(JSON.stringify(secret)),
    inAscii(JSON.stringify(secret)).replace(/\\(u\w{4}|.)/g, (part) =>
      part.length === 2 ? part : `\\u${part.slice(2).toUpperCase()}`,
    ),
    JSON.stringify(inAscii(JSON.stringify({ key: secret }))),
  ]
}

/** As `jq -a` writes it. */
function inAscii(json: string): string {
  return json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

test('no canary leaves an event, whatever its form, its place and its depth', () => {
  fc.assert(
    fc.property(fc.uniqueArray(canary, { minLength: 1, maxLength: 4 }), padding, padding, (secrets, before, after) => {
      const mask = new Mask(secrets)
      for (const secret of secrets) {
        for (const form of encodings(secret)) {
          const text = before + form + after
          const masked = JSON.stringify(mask.event(eventOf(text)))
          expect(masked).toContain(HIDDEN)
          expect(new Mask(secrets).isCleanJson(masked)).toBe(true)
          for (const other of encodings(secret)) expect(mask.text(text)).not.toContain(other)
        }
      }
    }),
    { numRuns: 150 },
  )
})

test('a text that comes in pieces is masked as if it came whole, wherever it is cut', () => {
  const secret = fc.constantFrom('abcabcabd', 'bcabca', 'aaaa', 'abcabd"\n', 'zz top')
  const text = fc.array(fc.oneof(secret, fc.constantFrom('a', 'b', 'c', 'ab', 'abcab', ' ', 'z')), { maxLength: 12 })
  fc.assert(
    fc.property(
      fc.uniqueArray(secret, { minLength: 1 }),
      text,
      fc.infiniteStream(fc.nat(6)),
      (secrets, words, sizes) => {
        const mask = new Mask(secrets)
        const whole = words.join('')
        const stream = mask.stream()
        let shown = ''
        for (let at = 0; at < whole.length; ) {
          const size = 1 + (sizes.next().value ?? 0)
          shown += stream.push(whole.slice(at, at + size))
          at += size
        }
        expect(shown + stream.end()).toBe(mask.text(whole))
      },
    ),
    { numRuns: 2000 },
  )
})

test('what is not held back is shown at once, and a false beginning as soon as it is known to be one', () => {
  const stream = new Mask(['sk-12345678']).stream()
  expect([
    stream.push('hello s'),
    stream.push('k-12'),
    stream.push('x'),
    stream.push('sk-12345678!'),
    stream.end(),
  ]).toEqual(['hello ', '', 'sk-12x', `${HIDDEN}!`, ''])
})

test('a longer secret wins over one that it holds, one of a few letters masks nothing, and a clean event stays the same object', () => {
  const mask = new Mask(['', 'keys', 'keys-and-more', 'a.*b', 'x', 'and'])
  expect(mask.text('keys-and-more, keys, a.*b, axxb, and')).toBe(`${HIDDEN}, ${HIDDEN}, ${HIDDEN}, axxb, and`)
  expect(mask.text('$& keys $1')).toBe(`$& ${HIDDEN} $1`)
  const event = { source: 'agent', message: 'nothing', action: 'think', args: { thought: 'x'.repeat(100_000) } }
  expect(mask.event(event)).toBe(event)
  expect(new Mask(['']).isEmpty).toBe(true)
  expect(new Mask([]).event(event)).toBe(event)
})

test('an event keeps its shape even when words of ours are secrets, and numbers of a model are masked too', () => {
  const mask = new Mask(['args', 'agent', 'exit_code', '4111111111111111'])
  const event = {
    source: 'agent',
    observation: 'run',
    content: 'agent args exit_code',
    extras: { command: 'args', metadata: { exit_code: 0 }, hidden: false },
    args: { arguments: { exit_code: 4111111111111111, b: 4 } },
  }
  expect(mask.event(event)).toEqual({
    source: 'agent',
    observation: 'run',
    content: `${HIDDEN} ${HIDDEN} ${HIDDEN}`,
    extras: { command: HIDDEN, metadata: { exit_code: 0 }, hidden: false },
    args: { arguments: { [HIDDEN]: HIDDEN, b: 4 } },
  })
})

test('a value of many line ends does not make a single letter a secret', () => {
  expect(new Mask(['\n\n\n\n\na']).text('a banana')).toBe('a banana')
  const hostile = JSON.parse('{"args":{"__proto__":"topsecret1","x":1}}') as object
  const masked = new Mask(['topsecret1']).event(hostile)
  expect(JSON.stringify(masked)).toBe(`{"args":{"__proto__":"${HIDDEN}","x":1}}`)
})

test('a line of a secret of many lines is masked alone, unless it is short or says nothing by itself', () => {
  const key = ['MIIEvQIBADANBgkqhkiG9w0B', 'AQEFAASCBKcwggSjAgEAAoIB', 'AQC7VJTUt9Us8cKj']
  const pem = `-----BEGIN PRIVATE KEY-----\r\n${key.join('\r\n')}\r\n-----END PRIVATE KEY-----\r\n`
  const account = '{\n  "note": "ключ",\n  "private": "пароль-\\"1\\""\n}\n====================\n'
  const mask = new Mask([pem, account, 'a single line is no line of many'])
  const cases: [text: string, masked: string][] = [
    ...key.map((line): [string, string] => [`is ${line}!`, `is ${HIDDEN}!`]),
    [`${key[0]}\n${key[1]}\n`, `${HIDDEN}\n${HIDDEN}\n`],
    [`x${pem}y`, `x${HIDDEN}y`],
    [JSON.stringify([pem]), `["${HIDDEN}"]`],
    ['-----BEGIN PRIVATE KEY-----', '-----BEGIN PRIVATE KEY-----'],
    ['====================', '===================='],
    // Fifteen characters, and twenty-three.
    ['"note": "ключ",', '"note": "ключ",'],
    ['> "private": "пароль-\\"1\\""', `> ${HIDDEN}`],
    [JSON.stringify('"private": "пароль-\\"1\\""'), `"${HIDDEN}"`],
    [inAscii(JSON.stringify('"private": "пароль-\\"1\\""')), `"${HIDDEN}"`],
  ]
  for (const [text, masked] of cases) expect([text, mask.text(text)]).toEqual([text, masked])
})

test('values of the longest kind, and many of them, are masked like any other', () => {
  const long = 'x'.repeat(65_536)
  const file = `-----BEGIN KEY-----\n${'MIIB0zCCAX+gAwIBAgI\n'.repeat(800)}-----END KEY-----\n`
  const short = Array.from({ length: 1_000 }, (_, i) => `value-${i}-of-a-thousand`)
  const mask = new Mask([long, file, ...short])
  expect(mask.text(`a ${long} b ${file}c`)).toBe(`a ${HIDDEN} b ${HIDDEN}c`)
  expect(mask.text(`short ${long.slice(1)}`)).toContain('xxx')
  expect(mask.text(`${short[7]} and ${btoa(file)} and ${short[999]}`)).toBe(`${HIDDEN} and ${HIDDEN} and ${HIDDEN}`)
  const clean = { source: 'agent' as const, message: 'nothing', args: { thought: 'here' } }
  expect(mask.event(clean)).toBe(clean)
  expect(mask.event({ ...clean, message: `is ${short[500]}` }).message).toBe(`is ${HIDDEN}`)
})

test('a value is masked from four characters on, its encoded forms from six, and a line of it from sixteen', () => {
  const masks = (value: string, text: string) => new Mask([value]).text(`( ${text} )`) === `( ${HIDDEN} )`
  const cases: [value: string, text: string, isMasked: boolean][] = [
    ['abc', 'abc', false],
    ['abcd', 'abcd', true],
    ['a b/c', 'a b/c', true],
    ['a b/c', 'a%20b%2Fc', false],
    ['a b/c', btoa('a b/c'), false],
    ['a b/cd', 'a%20b%2Fcd', true],
    ['a b/cd', 'a%20b%2fcd', true],
    ['a b/cd', 'a+b%2Fcd', true],
    ['a b/cd', btoa('a b/cd'), true],
    ['a b/cd', '6120622f6364', true],
    // With what fills up the last four digits, and without.
    ['a b/cde', btoa('a b/cde'), true],
    ['a b/cde', btoa('a b/cde').replaceAll('=', ''), true],
    ['a b/cdef', btoa('a b/cdef'), true],
    ['a b/cdef', btoa('a b/cdef').replaceAll('=', ''), true],
    ['a b/cd', '6120622F6364', true],
    [`${'k'.repeat(15)}\n${'m'.repeat(16)}`, 'k'.repeat(15), false],
    [`${'k'.repeat(15)}\n${'m'.repeat(16)}`, 'm'.repeat(16), true],
  ]
  for (const [value, text, isMasked] of cases)
    expect([value, text, masks(value, text)]).toEqual([value, text, isMasked])
})

test('what this service chooses itself stays readable in an event, and nothing of what a model or a server wrote does', () => {
  const mask = new Mask(['deadbeef'])
  const own = ['action', 'observation', 'source', 'timestamp', 'agent_state', 'recall_type', 'confirmation_state']
  const chosen = Object.fromEntries([...own, 'impl_source'].map((name) => [name, 'deadbeef']))
  expect(mask.event({ ...chosen, extras: chosen, message: 'deadbeef' })).toEqual({
    ...{ ...chosen, extras: chosen, message: HIDDEN },
  })
  const hidden = Object.fromEntries([...own, 'impl_source'].map((name) => [name, HIDDEN]))
  for (const free of ['arguments', 'outputs', 'inputs', 'parameters', 'extra'])
    expect(mask.event({ args: { [free]: chosen } })).toEqual({ args: { [free]: hidden } })
})
