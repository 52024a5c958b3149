// Attacks without conversations: archives, searches and false runners.

import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Attacker } from './attacker-of-owner.ts'

const HELLO = { name: 'one', labels: [], version: '0', os: 'linux', arch: 'x64', capacity: 1_000 }
const LIES = { isolation: 'none', network: 'all', tools: [] }
const HELD = 5_000

/** Prepared, read and deleted, all at once, and imports that never come to an end. */
export async function archives(attacker: Attacker): Promise<void> {
  const conversation = await attacker.conversation()
  await attacker.say(conversation, 'for i in 1 2 3 4 5 6 7 8 9; do seq 1 20000 > $i.txt; done')
  const asked = ['POST /api/export', 'GET /api/export', 'GET /api/export/state', 'POST /api/import', 'GET /api/export']
  await attacker.lanes(20, async (lane) => {
    const [method = '', path = ''] = (asked[lane % asked.length] ?? '').split(' ')
    await attacker.ask(path, { method, ...(path === '/api/import' ? { json: { bytes: 50_000_000 } } : {}) })
  })
}

/** In lists, reports, names and the events of a conversation. */
export async function searches(attacker: Attacker): Promise<void> {
  const conversation = await attacker.conversation()
  await attacker.say(conversation, 'for i in 1 2 3 4 5 6 7 8 9; do seq 1 20000; done')
  const paths = [
    ...[`${conversation}/events?query=1%209&limit=100`, `${conversation}/events?query=%25&limit=100`],
    ...['/api/v1/stocks/search?q=a', '/api/v1/stocks/search?q=%E4%B8%AD', '/api/v1/history?page=1&limit=100'],
    ...['/api/v1/alphasift/screen', '/openapi.json'],
  ]
  await attacker.lanes(32, (lane) => attacker.ask(paths[lane % paths.length] ?? ''))
}

/** False runners that connect, introduce themselves repeatedly as different runners, and disconnect. */
export async function runners(attacker: Attacker): Promise<void> {
  const address = `${attacker.url.replace('http', 'ws')}/api/runners/socket`
  const holds = Array.from({ length: HELD }, (_, at) => `made-up-${at}`)
  await attacker.lanes(64, async (lane) => {
    attacker.struck.sent += 1
    const socket = new WebSocket(address, { headers: { authorization: `Bearer ${attacker.runnerKey}` } })
    const over = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.on('error', () => {
      attacker.struck.refused += 1
    })
    socket.on('open', async () => {
      const id = `${lane}${Math.floor(Math.random() * 1e9)}`.padStart(32, '0')
      const params = { wire: 1, runner: { ...HELLO, ...LIES, id }, holds, clock: Date.now() }
      for (let at = 0; at < 200 && !attacker.isOver && socket.readyState === socket.OPEN; at++) {
        const small = { ...params, holds: at === 0 ? holds : [] }
        socket.send(JSON.stringify({ jsonrpc: '2.0', id: at, method: 'runner/hello', params: small }))
        if (at % 20 === 0) await sleep(20)
      }
      socket.close()
    })
    await Promise.race([over, sleep(10_000)])
    socket.terminate()
    await sleep(20)
  })
}
