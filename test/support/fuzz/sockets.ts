// Sends valid and invalid frames over sockets: each answer must be a frame of the protocol, a final ping must be answered in time,
// and no close code may report a failure of the service.

import type { Random } from '../broken-requests.ts'
import { pick, type Values } from './values.ts'

const FRAMES: ReadonlySet<string> = new Set([
  ...['events', 'ready', 'ack', 'error', 'pong', 'check', 'status', 'closing', 'delta', 'output', 'ping'],
])
/** Converts a Socket.IO packet to a frame of the plain protocol; the pong of a client's own ping is `3probe`. */
const PACKETS: readonly (readonly [RegExp, string])[] = [
  [/^3probe$/, 'pong'],
  [/^2$/, 'ping'],
  [/^(0\{|40\{"sid":)/, 'ready'],
  [/^(41|44(\/[^,]*,)?\{"message":)/, 'closing'],
  [/^42\["oh_event",\{/, 'events'],
  [/^43\d+\[\{/, 'ack'],
]
/** Close codes that report a failure of the service. */
const FAILED = 1011
const ACTION = {
  type: 'object',
  properties: {
    action: { enum: ['message', 'run', 'change_agent_state', 'nothing'] },
    args: {
      type: 'object',
      properties: {
        content: { type: 'string' },
        command: { enum: ['echo a', 'cat < nowhere', 'true'] },
        agent_state: { enum: ['running', 'paused', 'stopped', 'user_confirmed', 'user_rejected', 'finished'] },
        image_urls: { type: 'array', items: { type: 'string' } },
      },
    },
    ref: { type: 'string' },
  },
  required: ['action', 'args'],
}

export type SocketReport = { faults: string[]; answered: number }
export type SocketFuzz = { url: string; key: string | null; values: Values; random: Random; patienceMs: number }

/** Runs this number of sockets, several in parallel; returns the errors, and how many sockets answered to the end. */
export async function fuzzSockets(fuzz: SocketFuzz, count: number, atOnce: number): Promise<SocketReport> {
  const heard: SocketReport = { faults: [], answered: 0 }
  let left = count
  const worker = async () => {
    while (left > 0) {
      left -= 1
      const { faults, answered } = await oneSocket(fuzz)
      heard.faults.push(...faults)
      heard.answered += answered
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return heard
}

async function oneSocket({ url, key, values, random, patienceMs }: SocketFuzz): Promise<SocketReport> {
  const id = encodeURIComponent(values.idFor('conversation_id').toWellFormed())
  const isPlain = random() < 0.7
  const after = pick(random, ['-1', '0', '3', '99999', 'x'])
  const secret = key === null ? '' : `&session_api_key=${key}`
  const path = isPlain
    ? `/api/conversations/${id}/ws?after=${after}${secret}`
    : `/socket.io/?EIO=4&transport=websocket&conversation_id=${id}&latest_event_id=${after}${secret}`
  const said = Array.from({ length: Math.floor(random() * 6) }, () => frameOf({ values, random, isPlain }))
  const { faults, answered } = await talk(`${url.replace('http', 'ws')}${path}`, { said, isPlain, patienceMs })
  const shown = said.map((one) => one.slice(0, 200)).join('\n    ')
  return { faults: faults.map((fault) => `${path}: ${fault}\n    ${shown}`), answered }
}

type Making = { values: Values; random: Random; isPlain: boolean }

function frameOf({ values, random, isPlain }: Making): string {
  const action = values.valid(ACTION)
  const sent = random() < 0.5 ? values.broken(action) : action
  const text = (JSON.stringify(sent) ?? '').slice(0, 100_000)
  if (random() < 0.1) return text.slice(0, Math.floor(random() * text.length))
  if (isPlain) return random() < 0.1 ? '{"type":"check"}' : text
  return pick(random, [`42["oh_user_action",${text}]`, `421["oh_user_action",${text}]`, '40', `40/x,`, '3', text])
}

type Talk = { said: readonly string[]; isPlain: boolean; patienceMs: number }

/** Sends all frames, with a ping at the end if the protocol has one, and reads until its answer. */
function talk(address: string, { said, isPlain, patienceMs }: Talk): Promise<SocketReport> {
  return new Promise((resolve) => {
    const faults: string[] = []
    const socket = new WebSocket(address)
    const timer = setTimeout(() => end([`no answer within ${patienceMs} ms`]), patienceMs)
    const end = (more: readonly string[] = [], answered = 0) => {
      clearTimeout(timer)
      socket.close()
      resolve({ faults: [...faults, ...more], answered })
    }
    socket.addEventListener('open', () => {
      for (const text of said) socket.send(text)
      socket.send(isPlain ? '{"type":"ping"}' : '2probe')
    })
    socket.addEventListener('message', ({ data }) => {
      const type = isPlain ? frameType(String(data)) : packetType(String(data))
      if (type === 'pong') end([], 1)
      else if (!FRAMES.has(type)) faults.push(`a frame of the type ${type}: ${String(data).slice(0, 200)}`)
    })
    socket.addEventListener('close', ({ code, reason }) =>
      end(code === FAILED ? [`closed with ${code} ${reason}`] : []),
    )
    // A refused handshake: the fuzz test of requests checks its status.
    socket.addEventListener('error', () => end())
  })
}

function frameType(text: string): string {
  try {
    return String((JSON.parse(text) as { type?: unknown }).type)
  } catch {
    return 'no JSON'
  }
}

const packetType = (text: string): string => PACKETS.find(([is]) => is.test(text))?.[1] ?? 'no packet'
