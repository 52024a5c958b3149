import { expect, test } from 'vitest'
import {
  type AddressPolicy,
  type Chooser,
  checkAddress,
  isPolicyEntry,
  MARKER_HEADER,
  namedByOperator,
  noteOwnPort,
  outboundMarker,
  STRANGER,
  typedByPerson,
} from '../../../src/lib/address-policy.ts'
import { GuardedFetchError, type GuardedFetchOptions, guardedFetch } from '../../../src/lib/guarded-fetch.ts'
import { allowing, LOCAL } from '../../helpers/policies.ts'
import { ALLOWED } from './address-corpus.ts'
import { OTHERS, OWN, OWN_ORIGINS } from './own-origin-corpus.ts'

const hostsOf = (addresses: readonly string[]) =>
  addresses.flatMap((address) => (URL.canParse(address) ? [new URL(address).hostname] : [])).filter(isPolicyEntry)

/** An operator who allows everything that can be allowed. */
const WIDE_OPEN: AddressPolicy = {
  ...allowing('0.0.0.0/0', '::/0', ...new Set(hostsOf([...OWN, ...OTHERS]))),
  personMayUseLoopback: true,
  ownOrigins: OWN_ORIGINS,
}

const reasonOf = (address: string, chosenBy: Chooser, policy = WIDE_OPEN) => {
  const verdict = checkAddress(address, { policy, chosenBy })
  return verdict.ok ? 'passes' : verdict.reason
}

test('the service itself is refused in every spelling, to models and to persons, whatever the operator allows', () => {
  expect(OWN.length).toBeGreaterThanOrEqual(350)
  for (const chooser of [() => STRANGER, typedByPerson]) {
    expect(OWN.filter((address) => reasonOf(address, chooser(address)) === 'passes')).toEqual([])
    expect(OTHERS.filter((address) => reasonOf(address, chooser(address)) !== 'passes')).toEqual([])
    expect(ALLOWED.filter((address) => reasonOf(address, chooser(address)) !== 'passes')).toEqual([])
  }
  // Whoever asks is told that there is no way, and not to write it in another form.
  const told = OWN.filter((address) =>
    reasonOf(address, STRANGER).includes('is this service itself, which is never asked'),
  )
  const forms = OWN.filter((address) => !/^https?:/i.test(address) || !URL.canParse(address))
  expect(told.length).toBeGreaterThan(OWN.length * 0.75)
  expect(OWN.filter((address) => !told.includes(address) && !forms.includes(address)).length).toBeLessThan(60)
  expect(reasonOf('http://127.0.0.1:3000/', STRANGER, { ...LOCAL, ownOrigins: OWN_ORIGINS })).toBe(
    '127.0.0.1 is not a public address (the operator can allow 127.0.0.1:3000 with ALLOW_PRIVATE_NETWORK)',
  )
})

test('a service that answers this machine knows its port from then on', () => {
  const typed = (address: string) => reasonOf(address, typedByPerson(address), LOCAL)
  expect(typed('http://localhost:21999/v1')).toBe('passes')
  noteOwnPort('21999')
  for (const host of ['localhost', '127.0.0.1', '127.8.8.8', '[::1]', '0.0.0.0', 'a.localhost', '2130706433']) {
    expect([host, typed(`http://${host}:21999/v1`)]).toEqual([host, expect.stringContaining('is this service itself')])
  }
  expect(typed('http://localhost:22000/v1')).toBe('passes')
  expect(reasonOf('https://example.com:21999/', STRANGER, allowing('example.com'))).toBe('passes')
})

test('what the operator names does not pass the door, and another origin beside it does', () => {
  const chosenBy = namedByOperator('http://10.1.2.3:9000/hook', 'http://host.:81/')
  expect(reasonOf('http://10.1.2.3:9000/other', chosenBy, LOCAL)).toBe('passes')
  expect(reasonOf('http://host.:81/', chosenBy, LOCAL)).toBe('passes')
  expect(reasonOf('http://10.1.2.3:9001/', chosenBy, LOCAL)).toMatch(/not a public address/)
  expect(reasonOf('http://127.0.0.1:9/', chosenBy, LOCAL)).toMatch(/not a public address/)
  expect(reasonOf('file:///etc/passwd', namedByOperator('file:///etc/passwd'), LOCAL)).toMatch(/not an http or https/)
})

type Hop = readonly [from: string, location: string]

/** A net in which each address redirects as it is told, and answers otherwise. Tells what was asked. */
function net(status: number, hops: readonly Hop[]) {
  const asked: string[] = []
  const fetch = (async (url: string) => {
    asked.push(url)
    const location = hops.find(([from]) => from === url)?.[1]
    return location === undefined ? new Response('here') : new Response(null, { status, headers: { location } })
  }) as typeof globalThis.fetch
  return { asked, fetch }
}

const ended = (promise: Promise<Response>) =>
  promise.then(
    ({ url }) => url,
    (error: unknown) => (error instanceof GuardedFetchError ? error.reason : `not a GuardedFetchError: ${error}`),
  )

test('no redirect leads to the service, whichever status, spelling or chain it takes', async () => {
  const publicStart = 'http://example.com/'
  const relative = ['//127.0.0.1:8787/api/settings', '//localhost:8787', '/\\127.0.0.1:8787/', '\\\\[::1]:8787/']
  const open = {
    ...WIDE_OPEN,
    allowPrivate: ['0.0.0.0/0', '::/0', 'localhost', 'bellwether.example.com', 'workstation'],
  }
  // What a header can hold as it stands.
  const targets = [...OWN, ...relative].filter((target) => /^[\x21-\x7e]+$/.test(target))
  for (const status of [301, 302, 303, 307, 308]) {
    for (const target of targets) {
      const { asked, fetch } = net(status, [[publicStart, target]])
      const outcome = await ended(guardedFetch(publicStart, {}, { policy: open, chosenBy: STRANGER, fetch }))
      expect([target, outcome]).toEqual([target, expect.stringMatching(/^(refused|redirect)$/)])
      expect(asked.filter((url) => new URL(url).port === '8787' || new URL(url).host.includes('bellwether'))).toEqual(
        [],
      )
    }
  }
})

test('a person who typed a local address is led on within its origin only, and by nobody else into the inside', async () => {
  const model = 'http://localhost:11434/v1'
  const door = (hops: readonly Hop[], more: Partial<GuardedFetchOptions> = {}) => {
    const { asked, fetch } = net(302, hops)
    return {
      asked,
      door: { policy: { ...LOCAL, ownOrigins: OWN_ORIGINS }, chosenBy: typedByPerson(model), fetch, ...more },
    }
  }
  const walk = async (...hops: Hop[]) => ended(guardedFetch(model, {}, door(hops).door))
  expect(await walk()).toBe(model)
  expect(await walk([model, '/v2'])).toBe('http://localhost:11434/v2')
  expect(await walk([model, 'http://localhost:11434/v2'])).toBe('http://localhost:11434/v2')
  expect(await walk([model, '//localhost:11434/v2'])).toBe('http://localhost:11434/v2')
  expect(await walk([model, 'http://example.com/'])).toBe('http://example.com/')
  for (const inside of ['http://127.0.0.1:11434/', 'http://localhost:11435/', '//localhost/', 'http://10.0.0.1/']) {
    expect([inside, await walk([model, inside])]).toEqual([inside, 'refused'])
  }
  // By way of a public host, and back to what the person typed: by then it is the public host's choice.
  expect(await walk([model, 'http://example.com/'], ['http://example.com/', 'http://127.0.0.1:3000/'])).toBe('refused')
  expect(await walk([model, 'http://example.com/'], ['http://example.com/', `${model}/2`])).toBe('refused')
  const own = door([[model, 'http://localhost:8787/']])
  expect(await ended(guardedFetch(model, {}, own.door))).toBe('refused')
  expect(own.asked).toEqual([model])
  const itself = door([], { chosenBy: typedByPerson('http://localhost:8787/v1') })
  expect(await ended(guardedFetch('http://localhost:8787/v1', {}, itself.door))).toBe('refused')
  expect(itself.asked).toEqual([])
})

test('everything that goes out is marked anew, and no caller can take the mark away or say where it goes', async () => {
  const marker = outboundMarker(null)
  const sent: Headers[] = []
  const door: GuardedFetchOptions = {
    policy: { ...allowing('10.0.0.0/8'), marker },
    chosenBy: STRANGER,
    fetch: async (_url, init) => {
      sent.push(new Headers(init?.headers))
      const location = 'https://other.example/'
      return sent.length === 1 ? new Response(null, { status: 302, headers: { location } }) : new Response('')
    },
  }
  const meddling = {
    [MARKER_HEADER]: 'none',
    connection: MARKER_HEADER,
    'proxy-connection': 'close',
    host: 'localhost:8787',
    'transfer-encoding': 'chunked',
    upgrade: 'websocket',
    accept: 'text/x',
  }
  await guardedFetch('https://example.com/', { headers: meddling }, door)
  expect(sent.map((headers) => [...headers.keys()])).toEqual([
    ['accept', MARKER_HEADER],
    ['accept', MARKER_HEADER],
  ])
  const marks = sent.map((headers) => headers.get(MARKER_HEADER) ?? '')
  expect(marks.map((mark) => marker.isOurs(mark))).toEqual([true, true])
  expect(new Set(marks).size).toBe(2)

  const key = btoa('k'.repeat(32))
  const ours = outboundMarker(key)
  expect(outboundMarker(key).isOurs(ours.sign())).toBe(true)
  expect(outboundMarker(btoa('l'.repeat(32))).isOurs(ours.sign())).toBe(false)
  const [mark = ''] = marks
  expect(['', 'x', mark.slice(1), `${mark}x`, mark.split('.')[0] ?? ''].map(marker.isOurs)).toEqual(
    Array(5).fill(false),
  )
  // The operator's own address is asked without one.
  sent.length = 1
  await guardedFetch('https://example.com/', {}, { ...door, chosenBy: namedByOperator('https://example.com') })
  expect(sent[1]?.has(MARKER_HEADER)).toBe(false)
})
