// Files that go up and come down: as a program would send and take them, without looking at what is in them.

import { readdirSync, readFileSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'

export type DownloadJob = { readonly port: number; readonly path: string; readonly key: string }
export type UploadJob = DownloadJob & {
  /** Where the files are, all in one folder. */
  readonly folder: string
}

export type Transfer = {
  readonly firstByteMs: number
  readonly totalMs: number
  readonly sizeBytes: number
  readonly clientCpu: number
}

const BOUNDARY = 'bellwether-bench-7d81f0c4'

/** Throws unless all of the answer comes. */
export async function download({ port, path, key }: DownloadJob): Promise<Transfer> {
  return timed((startedAt) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ firstByteMs: number; sizeBytes: number }>()
    const onReply = (reply: IncomingMessage) => {
      let [firstByteMs, sizeBytes] = [0, 0]
      reply.on('data', (chunk: Buffer) => {
        if (sizeBytes === 0) firstByteMs = performance.now() - startedAt
        sizeBytes += chunk.length
      })
      reply.on('error', reject)
      reply.on('end', () => (reply.statusCode === 200 ? resolve({ firstByteMs, sizeBytes }) : reject(refusal(reply))))
    }
    httpRequest({ host: '127.0.0.1', port, path, headers: { 'x-session-api-key': key } }, onReply)
      .on('error', reject)
      .end()
    return promise
  })
}

/** Sends the folder's files in one form; throws unless every one of them was stored. */
export async function upload({ port, path, key, folder }: UploadJob): Promise<Transfer> {
  const names = readdirSync(folder).sort()
  const body = Buffer.concat([
    ...names.flatMap((name) => [headerOf(name), readFileSync(join(folder, name)), Buffer.from('\r\n')]),
    Buffer.from(`--${BOUNDARY}--\r\n`),
  ])
  const headers = {
    'x-session-api-key': key,
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    'content-length': String(body.length),
  }
  return timed(async () => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    httpRequest({ host: '127.0.0.1', port, path, method: 'POST', headers }, resolve).on('error', reject).end(body)
    const reply = await promise
    const text = (await reply.setEncoding('utf8').toArray()).join('')
    if (reply.statusCode !== 200) throw refusal(reply)
    const { uploaded_files } = JSON.parse(text) as { uploaded_files: string[] }
    if (uploaded_files.length !== names.length) throw new Error(`not all files were stored: ${text.slice(0, 500)}`)
    return { firstByteMs: 0, sizeBytes: body.length }
  })
}

const refusal = ({ statusCode }: IncomingMessage): Error => new Error(`answered ${statusCode}`)

const headerOf = (name: string): Buffer =>
  Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\n\r\n`)

async function timed(
  work: (startedAt: number) => Promise<Pick<Transfer, 'firstByteMs' | 'sizeBytes'>>,
): Promise<Transfer> {
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  const done = await work(startedAt)
  const totalMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpu)
  return { ...done, totalMs, clientCpu: (user + system) / 1000 / totalMs }
}
