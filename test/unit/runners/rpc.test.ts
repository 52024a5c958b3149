import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Handlers, NoAnswer, RpcError, RpcPeer } from '../../../src/runners/rpc.ts'
import { MAX_TEXT_BYTES, RPC_ERRORS } from '../../../src/runners/wire.ts'

const Answer = z.object({ id: z.unknown(), result: z.unknown(), error: z.unknown() }).partial()

function peerWith(handlers: Handlers = {}) {
  const sent: string[] = []
  const peer = new RpcPeer((text) => sent.push(text), handlers)
  const said = async (text: string) => {
    sent.length = 0
    await peer.receive(text)
    return sent.map((one) => Answer.parse(JSON.parse(one)))
  }
  const asked = (method: string, params?: unknown) => said(JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }))
  return { peer, sent, said, asked }
}

test('what is not a message is refused without an id, and the answer says so', async () => {
  const { said } = peerWith()
  const error = { code: RPC_ERRORS.invalidRequest, message: 'not a JSON-RPC 2.0 message' }
  for (const text of ['', '{', '[]', 'null', '{"jsonrpc":"1.0","method":"frame/ack"}', '{"method":"frame/ack"}'])
    expect([text, await said(text)]).toEqual([text, [{ id: null, error }]])
  const long = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x'.repeat(MAX_TEXT_BYTES) })
  expect(await said(long)).toEqual([{ id: null, error }])
})

test('a method that is not taken here, parameters that do not fit and a handler that fails are refused by name', async () => {
  const { asked, said } = peerWith({
    'host/ask': () => {
      throw new TypeError('a secret place')
    },
    'credential/ask': () => {
      throw new RpcError(RPC_ERRORS.refused, 'not for you', { why: 1 })
    },
  })
  const refused = (code: number, message: unknown, data?: unknown) => [
    { id: 7, error: { code, message, ...(data === undefined ? {} : { data }) } },
  ]
  expect(await asked('toString')).toEqual(refused(RPC_ERRORS.methodNotFound, 'no method toString here'))
  expect(await asked('frame/ack')).toEqual(refused(RPC_ERRORS.methodNotFound, 'no method frame/ack here'))
  expect(await asked(`x${'y'.repeat(200)}`)).toEqual(
    refused(RPC_ERRORS.methodNotFound, `no method x${'y'.repeat(99)} here`),
  )
  expect(await asked('host/ask')).toEqual(
    refused(RPC_ERRORS.invalidParams, expect.stringMatching(/^host\/ask: \w+: \S/)),
  )
  expect(await asked('host/ask', { host: 'example.com', port: 443 })).toEqual(refused(RPC_ERRORS.internal, 'TypeError'))
  const credential = { host: 'example.com', protocol: 'https', path: '' }
  expect(await asked('credential/ask', credential)).toEqual(refused(RPC_ERRORS.refused, 'not for you', { why: 1 }))
  // Nobody waits for an answer to what has no id.
  expect(
    await said(JSON.stringify({ jsonrpc: '2.0', method: 'host/ask', params: { host: 'example.com', port: 443 } })),
  ).toEqual([])
})

test('a call ends with its checked answer, the refusal of the other side, or the reason why none came', async () => {
  const { peer, sent, said } = peerWith()
  const call = (limitMs?: number) => peer.call('port/list', {}, z.object({ ports: z.array(z.number()) }), limitMs)
  const answered = async (more: object) => {
    const outcome = call().catch((error: unknown) => error)
    const { id } = Answer.parse(JSON.parse(sent.at(-1) ?? ''))
    await said(JSON.stringify({ jsonrpc: '2.0', id, ...more }))
    return outcome
  }
  expect(await answered({ result: { ports: [80], more: 1 } })).toEqual({ ports: [80] })
  expect(await answered({ result: { ports: '80' } })).toEqual(
    new RpcError(RPC_ERRORS.internal, 'port/list: the answer does not fit the wire'),
  )
  const refusal = await answered({ error: { code: -5, message: 'm'.repeat(3000), data: [1] } })
  expect(refusal).toBeInstanceOf(RpcError)
  expect(refusal).toMatchObject({ code: -5, message: 'm'.repeat(2000), data: [1] })
  await expect(call(20)).rejects.toEqual(new NoAnswer('port/list: no answer within 0.02 s'))
  const waiting = call()
  peer.close('the runner went away')
  await expect(waiting).rejects.toEqual(new NoAnswer('the runner went away'))
  await expect(call()).rejects.toEqual(new NoAnswer('the connection is closed'))
})
