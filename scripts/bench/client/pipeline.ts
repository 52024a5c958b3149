// One client that says very much without waiting, and counts the acknowledgements.

import { SocketClient, type SocketTarget } from './socket-client.ts'

export type PipelineJob = {
  readonly target: SocketTarget
  /** With `{n}` where a number stands that is never used twice. */
  readonly message: string
  readonly count: number
}

export type PipelineResult = { readonly perSecond: number; readonly clientCpu: number }

const ACK_MARK = Buffer.from('"type":"ack"')
/** Messages of one write. */
const CHUNK = 500
const PATIENCE_MS = 60_000

let used = 0

export async function pipeline({ target, message, count }: PipelineJob): Promise<PipelineResult> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let acks = 0
  const client = await SocketClient.open(target, {
    text: (payload) => {
      if (payload.includes(ACK_MARK) && ++acks === count) resolve()
    },
    closed: reject,
  })
  const texts = Array.from({ length: count }, () => message.replace('{n}', String(used++)))
  const timer = setTimeout(() => reject(new Error(`${acks} of ${count} were acknowledged`)), PATIENCE_MS)
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  for (let i = 0; i < count; i += CHUNK) client.send(texts.slice(i, i + CHUNK))
  await promise.finally(() => clearTimeout(timer))
  const elapsedMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpu)
  client.close()
  return { perSecond: (count / elapsedMs) * 1000, clientCpu: (user + system) / 1000 / elapsedMs }
}
