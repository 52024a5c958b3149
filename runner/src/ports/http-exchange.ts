// One HTTP request to a server in the sandbox. The server is not trusted: Node's parser reads its answer and limits the
// header.

import { type Agent, type IncomingMessage, request } from 'node:http'
import type { PortFrameHead } from '../../../src/runners/frames.ts'
import { PortReader, PortWriter } from '../../../src/runners/port-streams.ts'
import { PortHead, type PortOpen } from '../../../src/runners/port-wire.ts'
import { type Line, reasonOf } from './ports.ts'

export type Exchange = {
  take(head: PortFrameHead, bytes: Uint8Array): void
  acked(seq: number): void
  /** Ended by the other side, or because the connection is lost. */
  breakOff(code?: number): void
}

const MAX_HEAD_BYTES = 32 * 1024
/** After this time without a byte of the header, the server counts as unresponsive. */
const HEAD_MS = 120_000
/** Headers of one connection, which this side sets itself. */
const OF_CONNECTION = /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/

export function httpExchange(wanted: PortOpen, line: Line, agent: Agent): Exchange {
  const body = new PortReader()
  const answer = new PortWriter(wanted.stream, line.send)
  let isOver = false
  const out = requestOf(wanted, agent)
  const stop = () => {
    isOver = true
    body.break()
    answer.over()
    out.destroy()
  }
  const fail = (error: unknown) => {
    if (isOver) return
    stop()
    line.close(reasonOf(error))
  }
  out.on('error', fail)
  out.setTimeout(HEAD_MS, () => fail(new Error('the server does not answer')))
  out.on('response', (response) => {
    out.setTimeout(0)
    pass(response, { line, answer, isOver: () => isOver }).then(() => {
      if (!isOver) line.done()
      isOver = true
    }, fail)
  })
  out.on('upgrade', (_response, socket) => {
    socket.destroy()
    fail(new Error('the server changed the protocol unasked'))
  })
  if (wanted.hasBody) send(body, out, line).catch(fail)
  else out.end()
  return { take: (head, bytes) => body.take(head, bytes), acked: (seq) => answer.acked(seq), breakOff: stop }
}

function requestOf({ port, method, path, headers }: PortOpen, agent: Agent): ReturnType<typeof request> {
  return request({
    agent,
    host: 'localhost',
    port,
    method,
    path,
    headers: [['host', `localhost:${port}`], ...headers.filter(([name]) => name.toLowerCase() !== 'host')].flat(),
    setHost: false,
    maxHeaderSize: MAX_HEAD_BYTES,
  })
}

async function send(body: PortReader, out: ReturnType<typeof request>, line: Line): Promise<void> {
  for (let piece = await body.next(); piece !== null; piece = await body.next()) {
    const { bytes, end, seq } = piece
    if (bytes.byteLength > 0 && !out.write(bytes)) await drained(out)
    line.used(seq)
    if (end) {
      out.end()
      return
    }
  }
}

/** Also resolves when it ends: then there is no drain event. */
function drained(out: ReturnType<typeof request>): Promise<void> {
  return new Promise((resolve) => {
    out.once('drain', resolve)
    out.once('close', resolve)
  })
}

async function pass(
  response: IncomingMessage,
  { line, answer, isOver }: { line: Line; answer: PortWriter; isOver: () => boolean },
): Promise<void> {
  const { rawHeaders, statusCode = 502 } = response
  const pairs: [string, string][] = []
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [name, value] = [rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '']
    if (!OF_CONNECTION.test(name.toLowerCase())) pairs.push([name, value])
  }
  const head = PortHead.omit({ stream: true }).safeParse({ status: statusCode, headers: pairs })
  if (!head.success) throw new Error('the server answered with a head that is none')
  line.head(statusCode, pairs)
  for await (const chunk of response as AsyncIterable<Buffer>) {
    await answer.write(chunk)
    if (isOver()) return
  }
  if (!response.complete) throw new Error('the server broke off its answer')
  answer.end()
}
