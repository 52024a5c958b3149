// Streams a whole log from the object in batches, at the client's speed: only a small part of a conversation is in
// memory at once.

import type { conversation } from '../../bindings.ts'
import { errorFields, log } from '../../lib/log.ts'

type Stub = ReturnType<typeof conversation>
type Batch = NonNullable<Awaited<ReturnType<Stub['readEvents']>>>

/** The array element for an event; null leaves it out. */
export type Choose = (text: string) => string | null

/**
 * The text of a JSON array with one element per event, between `head` and `tail`. `first` is the batch after -1; the
 * stream ends with the event that was the newest when that batch was read. Throws if the conversation is deleted
 * meanwhile.
 */
export async function* jsonArray(
  events: { stub: Stub; first: Batch; pick: Choose },
  [head, tail]: [head: string, tail: string],
): AsyncGenerator<string> {
  const { stub, first, pick } = events
  let owed = `${head}[`
  let after = -1
  for (let batch = first; ; ) {
    const items = batch.events.map(pick).filter((item) => item !== null)
    if (items.length > 0) {
      yield owed + items.join(',')
      owed = ','
    }
    // Ids are consecutive from 0, so they can be counted.
    after += batch.events.length
    if (after >= first.last) break
    const next = await stub.readEvents(after)
    if (next === null || next.events.length === 0) throw new Error('the conversation went away while it was read')
    batch = next
  }
  yield `${owed === ',' ? '' : owed}]${tail}`
}

/** The texts as a body. The next one is read when there is room; a failure aborts the connection. */
export function streamOf(texts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await texts.next()
          if (done) controller.close()
          else controller.enqueue(encoder.encode(value))
        } catch (error) {
          log.warn('export.broken_off', errorFields(error))
          controller.error(error)
        }
      },
      cancel: async () => {
        await texts.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}
