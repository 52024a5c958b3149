// The worst loads that one owner can cause with a key, each for some seconds. The responses do not matter here: the result is
// the effect on another owner.

import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Attacker, type Struck, type Target } from './attacker-of-owner.ts'
import { archives, runners, searches } from './more-attacks.ts'

const MEGABYTE = 1024 * 1024
const BODY_BYTES = 8 * MEGABYTE - 4_096
const ENDLESS = [
  'node -e "for(;;);"',
  'while true; do :; done',
  'node -e "let a=[];for(;;)a.push(new Array(1e5).fill(1))"',
]
const STOCKS = ['600519', '000001', '600000', '601318', '600036', 'AAPL', 'MSFT', 'hk00700', '300750', '000858']

type Attack = (attacker: Attacker) => Promise<void>

async function sockets(attacker: Attacker): Promise<void> {
  const conversation = await attacker.conversation()
  const address = `${attacker.url.replace('http', 'ws')}${conversation}/ws?session_api_key=${attacker.key}`
  await attacker.lanes(400, async () => {
    attacker.struck.sent += 1
    const socket = new WebSocket(`${address}&latest_event_id=-1`)
    const { promise: over, resolve } = Promise.withResolvers<void>()
    socket.addEventListener('close', () => resolve())
    socket.addEventListener('error', () => {
      attacker.struck.refused += 1
      resolve()
    })
    socket.addEventListener('open', async () => {
      for (let at = 0; at < 200 && !attacker.isOver && socket.readyState === WebSocket.OPEN; at++) {
        socket.send(
          at % 10 === 0 ? JSON.stringify({ action: 'message', args: { content: `true ${at}` } }) : '{"type":"ping"}',
        )
        if (at % 20 === 0) await sleep(20)
      }
      socket.close()
    })
    await Promise.race([over, sleep(10_000)])
    await sleep(20)
  })
}

async function streams(attacker: Attacker): Promise<void> {
  await attacker.lanes(200, async () => {
    attacker.struck.sent += 1
    const left = new AbortController()
    const options = { headers: { 'x-session-api-key': attacker.key }, signal: left.signal }
    try {
      const response = await fetch(`${attacker.url}/api/v1/analysis/tasks/stream`, options)
      if (!response.ok) attacker.struck.refused += 1
      else await response.body?.getReader().read()
      await sleep(50)
    } catch {
      attacker.struck.refused += 1
    }
    left.abort()
  })
}

async function uploads(attacker: Attacker): Promise<void> {
  const conversation = await attacker.conversation()
  const bytes = new Uint8Array(10 * MEGABYTE).fill(120)
  await attacker.lanes(6, async (lane) => {
    const form = new FormData()
    for (const at of [0, 1, 2]) form.append('files', new File([bytes], `file-${lane}-${at}.bin`))
    await attacker.ask(`${conversation}/upload-files`, { method: 'POST', body: form })
  })
}

async function hugeEvents(attacker: Attacker): Promise<void> {
  const conversation = await attacker.conversation()
  const content = `true # ${'x'.repeat(BODY_BYTES)}`
  await attacker.lanes(8, () => attacker.say(conversation, content))
}

async function loops(attacker: Attacker): Promise<void> {
  const made = await Promise.all(ENDLESS.map(() => attacker.conversation()))
  await attacker.lanes(made.length, async (lane) => {
    await attacker.say(made[lane] as string, ENDLESS[lane] as string)
    await sleep(500)
  })
}

async function analyses(attacker: Attacker): Promise<void> {
  const json = { stock_codes: STOCKS, async_mode: true, force_refresh: true, report_type: 'full' }
  await attacker.lanes(4, () => attacker.ask('/api/v1/analysis/analyze', { method: 'POST', json }))
}

async function longAnswers(attacker: Attacker): Promise<void> {
  const conversation = await attacker.conversation()
  await attacker.say(conversation, 'for i in 1 2 3 4 5 6 7 8 9; do seq 1 20000; done')
  const paths = [
    '/events?query=19999&limit=100',
    '/zip-directory',
    '/events?limit=100&reverse=true',
    '/trajectory',
    '/git/changes',
  ]
  await attacker.lanes(24, (lane) => attacker.ask(`${conversation}${paths[lane % paths.length]}`))
}

/** Request bodies that arrive byte by byte, very slowly. */
async function slowBodies(attacker: Attacker): Promise<void> {
  const conversation = await attacker.conversation()
  const url = `${attacker.url}${conversation}/events`
  const headers = {
    'x-session-api-key': attacker.key,
    'content-type': 'application/json',
    'content-length': BODY_BYTES,
  }
  await attacker.lanes(64, async () => {
    attacker.struck.sent += 1
    const asked = request(url, { method: 'POST', headers })
    const over = new Promise<void>((resolve) => asked.once('close', resolve))
    asked.once('error', () => {
      attacker.struck.refused += 1
    })
    asked.once('response', (response) => response.resume())
    asked.write(`{"action":"message","args":{"content":"${'x'.repeat(1_500_000)}`)
    while (!attacker.isOver && !asked.destroyed) {
      asked.write('x')
      await Promise.race([over, sleep(200)])
    }
    asked.destroy()
  })
}

async function writes(attacker: Attacker): Promise<void> {
  const conversation = await attacker.conversation()
  await attacker.lanes(64, () => attacker.say(conversation, 'true'))
}

export const ATTACKS = {
  'flood of reads': (attacker) =>
    attacker.lanes(64, async () => void (await attacker.ask('/api/conversations?limit=100'))),
  'flood of writes': writes,
  'conversations made': (attacker) => attacker.lanes(16, () => attacker.conversation()),
  sockets,
  'event streams': streams,
  uploads,
  'events of 8 MB': hugeEvents,
  'slow bodies': slowBodies,
  'endless programs': loops,
  analyses,
  'long answers': longAnswers,
  archives,
  searches,
  'machines that are none': runners,
} satisfies Record<string, Attack>

export type AttackName = keyof typeof ATTACKS

export async function strike(name: AttackName, target: Target): Promise<Struck> {
  const attacker = new Attacker(target)
  await ATTACKS[name](attacker)
  return attacker.struck
}
