// A slow machine to order: what a test does not wait for shows on it. The page's processor is a sixth as fast, answers of the
// service come up to half a second late and out of order, and so do the frames of sockets (in their order). SLOW_PAGES is the
// seed of the delays.

import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserContext, Page } from 'playwright-core'
import { wantedNumber } from '../support/wanted-number.ts'

const TIMES_SLOWER = 6
const MOST_DELAY_MS = 500

/** 0 up to 1; mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export async function slowDown(context: BrowserContext, page: Page): Promise<void> {
  const seed = wantedNumber('SLOW_PAGES', 0, 0)
  if (seed === 0) return
  const random = randomOf(seed)
  const delay = () => sleep(random() * MOST_DELAY_MS)
  await context.route(/\/api\//, async (route) => {
    await delay()
    // The page may have gone on to another address meanwhile.
    await route.continue().catch(() => undefined)
  })
  await context.routeWebSocket(/.*/, (socket) => {
    const server = socket.connectToServer()
    let arrived = Promise.resolve()
    // Only what comes: what a page has sent before it closes its socket goes out at once.
    server.onMessage((message) => {
      const late = delay()
      arrived = arrived.then(() => late).then(() => socket.send(message))
    })
  })
  const session = await context.newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: TIMES_SLOWER })
}
