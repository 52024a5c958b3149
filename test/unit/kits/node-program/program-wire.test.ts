import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hostedPrograms } from '../../../../src/kits/node-program/index.ts'
import type { PreparedProgram } from '../../../../src/kits/node-program/program-port.ts'
import type { Report } from '../../../../src/kits/node-program/runtime/protocol.ts'
import { type Frame, FrameReader, frame, pack, unpack } from '../../../../src/kits/node-program/wire.ts'

const entries = fc.array(
  fc.record({ path: fc.string(), mode: fc.nat(), bytes: fc.uint8Array() }, { requiredKeys: ['path'] }),
)

test('a package holds what was put into it, whatever the names and bytes are', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), entries, (head, given) => {
      const taken = unpack(pack(head, given))
      expect(JSON.stringify(taken.head)).toBe(JSON.stringify(head))
      expect(taken.entries).toEqual(
        given.map((one) => ({ ...one, ...(one.bytes ? { bytes: Uint8Array.from(one.bytes) } : {}) })),
      )
    }),
  )
  expect(() => unpack(pack({}, [{ path: 'a', bytes: new Uint8Array(9) }]).slice(0, -1))).toThrow('shorter')
})

test('frames come out as they went in, however the connection cuts them', () => {
  const frames = fc.array(
    fc.record({ kind: fc.constantFrom('output', 'changes', 'ending', 'failure'), payload: fc.uint8Array() }),
  )
  fc.assert(
    fc.property(frames, fc.infiniteStream(fc.integer({ min: 1, max: 9 })), (given, sizes) => {
      const all = given.flatMap(({ kind, payload }) => [...frame(kind as Frame['kind'], payload)])
      const reader = new FrameReader()
      const taken: Frame[] = []
      for (let at = 0; at < all.length; ) {
        const size = sizes.next().value
        taken.push(...reader.push(Uint8Array.from(all.slice(at, at + size))))
        at += size
      }
      expect(taken.map(({ kind, payload }) => ({ kind, payload: [...payload] }))).toEqual(
        given.map(({ kind, payload }) => ({ kind, payload: [...payload] })),
      )
    }),
  )
  expect(() => new FrameReader().push(Uint8Array.of(9, 0, 0, 0, 0))).toThrow('no frame of kind 9')
})

const PROGRAM: PreparedProgram = { modules: {}, input: {}, files: [], deadline: Date.now() + 60_000, cpuMs: 1000 }

async function run(answer: () => Response | Promise<Response>, signal = new AbortController().signal) {
  const reports: Report[] = []
  const host = { fetch: async () => answer() } as unknown as Fetcher
  const onReport = async (report: Report) => {
    reports.push(report)
    return { stop: false }
  }
  const ending = hostedPrograms(host, 'group').run(PROGRAM, { onReport, signal })
  return { reports, ending }
}

const body = (...frames: Uint8Array[]) => new Response(new Blob(frames as Uint8Array<ArrayBuffer>[]))

test('what a host answers is checked, and a host that fails is named', async () => {
  const end = frame('ending', JSON.stringify({ code: 3, tests: null, why: 'stopped: x' }))
  const strange = await run(() =>
    body(frame('output', '[[1,"a"],[2,"b"]]'), frame('changes', pack({}, [{ path: '/workspace/x' }])), end),
  )
  await expect(strange.ending).rejects.toThrow()
  const told = await run(() => body(frame('output', '[[1,"a"]]'), end))
  expect(await told.ending).toEqual({ code: 3, tests: null, why: 'stopped: x', output: [], changes: [] })
  expect(told.reports).toEqual([{ output: [[1, 'a']], changes: [] }])
  await expect((await run(() => body(frame('output', '[[3,"a"]]'), end))).ending).rejects.toThrow()
  await expect((await run(() => body(frame('failure', 'Uncaught SyntaxError: x')))).ending).rejects.toThrow(
    'Uncaught SyntaxError: x',
  )
  await expect((await run(() => body())).ending).rejects.toThrow('The program host went away')
  await expect((await run(() => Promise.reject(new Error('refused')))).ending).rejects.toThrow(
    'The program host cannot be reached',
  )
  await expect((await run(() => new Response('full', { status: 503 }))).ending).rejects.toThrow(
    'Programs cannot be run now: full',
  )
})
