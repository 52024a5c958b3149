// Sends the changes of the runner. At most a window of frames is unacknowledged; nothing is sent if nothing changed.

import { closeSync } from 'node:fs'
import { TransferStored, WINDOW_BYTES } from '../../../src/runners/wire.ts'
import { Disconnected, type Peer } from '../connect/peer.ts'
import { FramePacker } from './frames-of.ts'
import type { ManifestEntry } from './manifest.ts'
import type { Tree } from './tree.ts'
import type { TreePosition } from './tree-state.ts'

export type SentUpload = { readonly transfer: number; readonly changes: ReadonlyMap<string, ManifestEntry | null> }
type Frame = Parameters<Peer['sendFrame']>[0]

export class Uploads {
  readonly #tree: Tree
  readonly #onRefused: (path: string, reason: string) => void
  /** Starts at a random number, so that a transfer of an earlier process is not mistaken for one of this process. */
  #nextTransfer = Math.floor(Math.random() * 2 ** 40)
  /** The last completely sent transfer without an answer yet. */
  #unanswered: SentUpload | null = null
  #window: SendWindow | null = null

  constructor(tree: Tree, onRefused: (path: string, reason: string) => void) {
    this.#tree = tree
    this.#onRefused = onRefused
  }

  /** The paths that are not sent, as of the last walk. */
  get left(): readonly string[] {
    return this.#tree.left
  }

  /** Sends and commits the current changes. Only while nothing else uses the tree. */
  async sync(peer: Peer, remark: (text: string) => void): Promise<void> {
    const sent = await this.send(peer, remark)
    if (sent === null) return
    this.stored(sent.upload, await peer.call('transfer/commit', { transfer: sent.upload.transfer, ...sent.counts }))
  }

  /** Sent but not committed; null if nothing changed. */
  async send(
    peer: Peer,
    remark: (text: string) => void,
  ): Promise<{ upload: SentUpload; counts: { frames: number; entries: number } } | null> {
    const position = this.#tree.position
    const found = position === null ? null : await this.#tree.survey(remark)
    if (position === null) return null
    if (found === null) {
      remark('The workspace has so many files that its changes stay on the runner.')
      return null
    }
    const transfer = this.#nextTransfer
    const packer = new FramePacker(transfer)
    const changes = new Map<string, ManifestEntry | null>()
    const window = new SendWindow(peer)
    this.#window = window
    let entries = 0
    for (const change of this.#tree.changes(found, remark)) {
      if (entries === 0) await this.#begin(peer, { transfer, position, copyFd: change.copyFd })
      entries += 1
      changes.set(change.entry.path, change.known)
      for (const frame of packer.add(change)) await window.send(frame)
    }
    for (const frame of packer.flush()) await window.send(frame)
    if (entries === 0) return null
    const upload = { transfer, changes }
    this.#unanswered = upload
    return { upload, counts: { frames: packer.frames, entries } }
  }

  async #begin(peer: Peer, first: { transfer: number; position: TreePosition; copyFd: number | null }): Promise<void> {
    this.#nextTransfer += 1
    const { transfer, position, copyFd } = first
    try {
      await peer.call('transfer/begin', { transfer, ...position, base: position.revision })
    } catch (error) {
      if (copyFd !== null) closeSync(copyFd)
      throw error
    }
  }

  stored(upload: SentUpload | null, answer: unknown): void {
    const { revision, refused } = TransferStored.parse(answer)
    for (const { path, reason } of refused) this.#onRefused(path, reason)
    this.#unanswered = null
    this.#tree.agree(upload?.changes ?? new Map(), revision)
  }

  /**
   * After a reconnection: the last transfer that the other side has, if its answer was lost. One of an earlier process
   * is known only by its revision: its files are on the disk and are sent again.
   */
  recovered({ transfer, revision }: { transfer: number; revision: number }): void {
    const upload = this.#unanswered
    this.#unanswered = null
    if (upload?.transfer === transfer) this.#tree.agree(upload.changes, revision)
    else if (this.#tree.position?.revision === revision - 1) this.#tree.agree(new Map(), revision)
  }

  acknowledged(transfer: number, seq: number): void {
    if (transfer === this.#nextTransfer - 1) this.#window?.acknowledged(seq)
  }

  disconnected(): void {
    this.#window?.end()
    this.#window = null
  }
}

/** Sent frames without an acknowledgement; a full window makes the sender wait. */
class SendWindow {
  readonly #peer: Peer
  #inFlight: number[] = []
  #bytes = 0
  #first = 0
  #isOver = false
  #onRoom: (() => void) | null = null

  constructor(peer: Peer) {
    this.#peer = peer
  }

  async send(frame: Frame): Promise<void> {
    while (this.#bytes + frame.bytes.byteLength > WINDOW_BYTES && this.#inFlight.length > 0) {
      if (this.#isOver) throw new Disconnected('the connection ended')
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve
      })
    }
    if (this.#isOver) throw new Disconnected('the connection ended')
    this.#inFlight.push(frame.bytes.byteLength)
    this.#bytes += frame.bytes.byteLength
    this.#peer.sendFrame(frame)
  }

  acknowledged(seq: number): void {
    while (this.#first <= seq && this.#inFlight.length > 0) {
      this.#bytes -= this.#inFlight.shift() ?? 0
      this.#first += 1
    }
    this.#onRoom?.()
  }

  end(): void {
    this.#isOver = true
    this.#onRoom?.()
  }
}
