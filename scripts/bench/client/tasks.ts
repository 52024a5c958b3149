// What a client does with the queue: says something that all listeners hear, waits for a start, drains a pile of tasks.

import { EventStreams, type StreamTarget } from './event-streams.ts'
import { HttpConnection } from './http-connection.ts'

export type ListenJob = { readonly group: string; readonly target: StreamTarget; readonly count: number }
/** Each request makes one event; `{id}` stands for the id in the answer before. */
export type TellJob = {
  readonly group: string
  readonly port: number
  readonly requests: readonly string[]
  readonly durationMs: number
}
export type StartJob = { readonly stream: StreamTarget; readonly requests: readonly string[] }
export type DrainJob = {
  readonly stream: StreamTarget
  readonly requests: readonly string[]
  readonly eventsEach: number
}

export type Timed = {
  readonly count: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly clientCpu: number
}

const CONNECTIONS = 4
const groups = new Map<string, EventStreams>()

export async function listen({ group, target, count }: ListenJob): Promise<void> {
  groups.set(group, await EventStreams.open(target, count))
}

export async function silence({ group }: { group: string }): Promise<void> {
  groups.get(group)?.close()
  groups.delete(group)
}

/** The time from saying something until the last listener has it. */
export async function tell({ group, port, requests, durationMs }: TellJob): Promise<Timed> {
  const streams = groups.get(group)
  if (streams === undefined) throw new Error(`nobody listens in ${group}`)
  const connection = await HttpConnection.open(port)
  streams.reset()
  let id = ''
  let said = 0
  const result = await timed(async (times, isOver) => {
    for (let i = 0; !isOver(durationMs) || i % requests.length !== 0; i++) {
      const request = (requests[i % requests.length] ?? '').replace('{id}', id)
      const from = performance.now()
      const answer = accepted(connection, request)
      said += 1
      await streams.until(said)
      times.push(performance.now() - from)
      id = /"task_id":"(\w+)"/.exec(await answer)?.[1] ?? id
    }
  })
  connection.close()
  return result
}

/** The time from sending a request until its task's start is heard; each task has ended before the next. */
export async function starts({ stream, requests }: StartJob): Promise<Timed> {
  const listener = await EventStreams.open(stream, 1)
  const connection = await HttpConnection.open(stream.port)
  const result = await timed(async (times) => {
    for (const request of requests) {
      listener.reset()
      const from = performance.now()
      const answer = accepted(connection, request)
      // Created, started.
      await listener.until(2)
      times.push(performance.now() - from)
      await answer
      await listener.until(3)
    }
  })
  listener.close()
  connection.close()
  return result
}

/** All requests, a few at a time, until the events of all of them were heard; a request's figures count once. */
export async function drain({ stream, requests, eventsEach }: DrainJob): Promise<Timed> {
  const listener = await EventStreams.open(stream, 1)
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => HttpConnection.open(stream.port)))
  listener.reset()
  let next = 0
  const result = await timed(async (times) => {
    await Promise.all(
      connections.map(async (connection) => {
        for (let i = next++; i < requests.length; i = next++) await accepted(connection, requests[i] ?? '')
      }),
    )
    await listener.until(requests.length * eventsEach)
    times.push(0)
  })
  listener.close()
  for (const connection of connections) connection.close()
  return result
}

/** The body of an answer that says yes in any of the ways there are; 202 is how the queue does. */
function accepted(connection: HttpConnection, request: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  connection.exchange(
    Buffer.from(request),
    (status, body) => {
      if (status >= 200 && status < 300) resolve(body.toString())
      else reject(new Error(`${status}: ${body.toString()}`))
    },
    reject,
  )
  return promise
}

type Work = (times: number[], isOver: (afterMs: number) => boolean) => Promise<void>

async function timed(work: Work): Promise<Timed> {
  const times: number[] = []
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  await work(times, (afterMs) => performance.now() >= startedAt + afterMs)
  const elapsedMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpu)
  times.sort((a, b) => a - b)
  const quantile = (q: number) => times[Math.min(times.length - 1, Math.floor(times.length * q))] ?? Number.NaN
  return {
    count: times.length,
    perSecond: (times.length / elapsedMs) * 1000,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    clientCpu: (user + system) / 1000 / elapsedMs,
  }
}
