// What users view in a conversation besides its events: its servers and its terminal. Each consists of streams on the
// runner's connection.

import type { Frame } from '../../src/runners/frames.ts'
import { streamIn } from '../../src/runners/port-streams.ts'
import type { Handlers, Peer } from './connect/peer.ts'
import type { Log } from './log.ts'
import { Ports } from './ports/ports.ts'
import type { OwnNetwork } from './sandbox/own-network.ts'
import { Terminal, type TerminalDeps } from './terminal/terminal.ts'

export class Views {
  readonly terminal: Terminal
  readonly #ports: Ports

  constructor(deps: TerminalDeps & { network: OwnNetwork | null; log: Log }) {
    this.#ports = new Ports(deps.network, deps.log)
    this.terminal = new Terminal(deps)
  }

  get handlers(): Handlers {
    return {
      'port/list': () => this.#ports.list(),
      'port/open': (wanted) => this.#ports.open(wanted),
      'port/close': (closed) => this.#ports.closed(closed),
      'terminal/open': (wanted) => this.terminal.open(wanted),
      'terminal/resize': (size) => this.terminal.resize(size),
      'terminal/close': () => this.terminal.close(),
    }
  }

  connect(peer: Peer): void {
    this.#ports.connect(peer)
    this.terminal.connect(peer)
  }

  disconnect(): void {
    this.#ports.disconnect()
    this.terminal.disconnect()
  }

  end(): void {
    this.#ports.end()
    this.terminal.end()
  }

  /** False for a frame of another kind. */
  received(frame: Frame): boolean {
    const { t } = frame.head
    if (t === 'port') this.#ports.received(frame)
    if (t === 'terminal') this.terminal.received(frame)
    return t === 'port' || t === 'terminal'
  }

  /** False for a stream of another kind. */
  acknowledged(name: string, seq: number): boolean {
    const found = streamIn(name)
    if (found?.kind === 'port') this.#ports.acknowledged(found.stream, seq)
    if (found?.kind === 'terminal') this.terminal.acknowledged(found.stream, seq)
    return found !== null
  }
}
