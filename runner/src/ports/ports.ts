// The servers in a conversation's sandbox, which users view through the service: the list of open ports, and one
// exchange for each request or socket. All data goes over the runner's connection; no port of the machine is opened.
// When the connection is lost, its running exchanges are aborted.

import { Agent } from 'node:http'
import type { Socket } from 'node:net'
import { BadFrame, type Frame } from '../../../src/runners/frames.ts'
import { streamName } from '../../../src/runners/port-streams.ts'
import { MAX_PORT_STREAMS, type PortClose, type PortOpen } from '../../../src/runners/port-wire.ts'
import type { Peer } from '../connect/peer.ts'
import { type Log, messageOf } from '../log.ts'
import type { OwnNetwork } from '../sandbox/own-network.ts'
import { type Exchange, httpExchange } from './http-exchange.ts'
import { socketExchange } from './socket-exchange.ts'

export type Line = {
  send(frame: Frame): void
  head(status: number, headers: [string, string][]): void
  /** Everything up to this piece was processed. */
  used(seq: number): void
  /** Aborted at this point. */
  close(reason: string, code?: number): void
  /** Both directions are finished. */
  done(): void
}

export class Ports {
  readonly #network: OwnNetwork | null
  readonly #log: Log
  readonly #open = new Map<number, Exchange>()
  readonly #agent: Agent
  #peer: Peer | null = null

  /** Without a network of the conversation's own there are no ports: those of the machine must not be shown. */
  constructor(network: OwnNetwork | null, log: Log) {
    this.#network = network
    this.#log = log
    // One connection for each possible request: otherwise a request could wait for others that never end.
    this.#agent = new Agent({ keepAlive: true, maxSockets: MAX_PORT_STREAMS, maxFreeSockets: 8, timeout: 30_000 })
    this.#agent.createConnection = (options, callback) => {
      this.#connect(Number(options.port)).then(
        (socket) => callback?.(null, socket),
        // The agent checks only the error.
        (error: Error) => callback?.(error, undefined as unknown as Socket),
      )
      return undefined
    }
  }

  list(): { ports: number[] } {
    return { ports: this.#network?.ports() ?? [] }
  }

  connect(peer: Peer): void {
    this.#peer = peer
  }

  disconnect(): void {
    this.#peer = null
    for (const exchange of this.#open.values()) exchange.breakOff()
    this.#open.clear()
  }

  open(wanted: PortOpen): void {
    const { stream } = wanted
    if (this.#open.has(stream)) throw new BadFrame('a stream that is open already')
    const line = this.#lineOf(stream)
    try {
      if (this.#open.size >= MAX_PORT_STREAMS) throw new Error('too many requests at a time')
      this.#open.set(stream, this.#exchange(wanted, line))
    } catch (error) {
      // A header that is invalid in a request.
      line.close(reasonOf(error))
    }
  }

  #exchange(wanted: PortOpen, line: Line): Exchange {
    if (wanted.kind === 'http') return httpExchange(wanted, line, this.#agent)
    return socketExchange(wanted, line, (port) => this.#connect(port))
  }

  received({ head, bytes }: Frame): void {
    if (head.t === 'port') this.#open.get(head.stream)?.take(head, bytes)
  }

  acknowledged(stream: number, seq: number): void {
    this.#open.get(stream)?.acked(seq)
  }

  closed({ stream, code }: PortClose): void {
    const exchange = this.#open.get(stream)
    this.#open.delete(stream)
    exchange?.breakOff(code)
  }

  end(): void {
    this.disconnect()
    this.#agent.destroy()
  }

  async #connect(port: number): Promise<Socket> {
    if (this.#network === null) throw new Error('this runner shows no ports')
    return this.#network.connect(port)
  }

  #lineOf(stream: number): Line {
    const peer = this.#peer
    return {
      send: (frame) => peer?.sendFrame(frame),
      head: (status, headers) => peer?.notify('port/head', { stream, status, headers }),
      used: (seq) => peer?.notify('frame/ack', { stream: streamName('port', stream), seq }),
      close: (reason, code) => {
        this.#open.delete(stream)
        this.#log('port.closed', { reason: reason.slice(0, 200) })
        peer?.notify('port/close', { stream, reason: reason.slice(0, 500), ...(code !== undefined && { code }) })
      },
      done: () => this.#open.delete(stream),
    }
  }
}

export const reasonOf = (error: unknown): string => messageOf(error).slice(0, 300)
