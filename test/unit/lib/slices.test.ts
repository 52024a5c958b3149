// Large bodies on their way to R2: whole, and with room for others in between.

import { env } from 'cloudflare:test'
import { expect, test } from 'vitest'
import { hexId } from '../../../src/lib/crypto.ts'
import { inSlices, streamInSlices } from '../../../src/lib/slices.ts'

const KIB = 1024

function bytesOf(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  for (let at = 0; at < size; at++) bytes[at] = (at * 31 + (at >> 9)) & 255
  return bytes
}

async function stored(key: string): Promise<string | null> {
  const object = await env.FILES.get(key)
  return object && digestOf(await object.arrayBuffer())
}

/** Comparing millions of bytes one by one takes a matcher half a minute. */
async function digestOf(bytes: BufferSource): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `${bytes.byteLength} ${digest.join(' ')}`
}

test.each([0, 1, 256 * KIB, 256 * KIB + 1, 512 * KIB, 5 * KIB * KIB + 3])(
  '%d bytes arrive as they are',
  async (size) => {
    const key = `slices/${hexId()}`
    const bytes = bytesOf(size)
    await env.FILES.put(key, inSlices(bytes))
    expect(await stored(key)).toBe(await digestOf(bytes))
  },
)

test('a part of an upload in parts may come in slices', async () => {
  const upload = await env.FILES.createMultipartUpload(`slices/${hexId()}`)
  const [first, second] = [bytesOf(5 * KIB * KIB), bytesOf(700 * KIB)]
  const parts = [await upload.uploadPart(1, inSlices(first)), await upload.uploadPart(2, inSlices(second))]
  await upload.complete(parts)
  expect(await stored(upload.key)).toBe(await digestOf(await new Blob([first, second]).arrayBuffer()))
})

test('others have their turn between the slices', async () => {
  let turns = 0
  const others = setInterval(() => {
    turns += 1
  }, 0)
  await env.FILES.put(`slices/${hexId()}`, inSlices(bytesOf(5 * KIB * KIB)))
  clearInterval(others)
  // One after each of twenty slices, less what two timers that are due at once may share.
  expect(turns).toBeGreaterThanOrEqual(10)
})

test('a stream of a known length arrives whole, and one that breaks off stores nothing', async () => {
  const bytes = bytesOf(900 * KIB)
  const source = (breaksAt: number) => {
    let at = 0
    return new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= breaksAt) return controller.error(new Error('the source broke off'))
        if (at >= bytes.byteLength) return controller.close()
        controller.enqueue(bytes.subarray(at, at + 4 * KIB))
        at += 4 * KIB
      },
    })
  }
  const [whole, broken] = [`slices/${hexId()}`, `slices/${hexId()}`]
  await env.FILES.put(whole, streamInSlices(source(Number.POSITIVE_INFINITY), bytes.byteLength))
  expect(await stored(whole)).toBe(await digestOf(bytes))
  await expect(env.FILES.put(broken, streamInSlices(source(600 * KIB), bytes.byteLength))).rejects.toThrow()
  expect(await stored(broken)).toBeNull()
})
