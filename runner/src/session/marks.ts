// Removes the marks from a terminal's output. Only the new chunk is scanned, and a possible start of a mark is held
// back until the next chunk shows whether it is one.

export type Mark =
  | { readonly kind: 'started' }
  /** The shell itself ended with this status; another one is being started, with the saved state if there is one. */
  | { readonly kind: 'shell-ended'; readonly status: number; readonly isSaved: boolean }
  | { readonly kind: 'prompt'; readonly prompt: Prompt }
export type Prompt = {
  readonly status: number
  readonly pid: number
  readonly user: string
  readonly host: string
  readonly interpreter: string
  readonly cwd: string
}

const BEGIN = 0x1e
const END = 0x1f
/** A folder's path and a few names. */
const LONGEST_MARK = 32 * 1024

export class MarkScanner {
  readonly #lead: Buffer
  readonly #onBytes: (bytes: Buffer) => void
  readonly #onMark: (mark: Mark) => void
  #held: Buffer = Buffer.alloc(0)

  constructor(nonce: string, events: { onBytes: (bytes: Buffer) => void; onMark: (mark: Mark) => void }) {
    this.#lead = Buffer.from(`\x1e${nonce}`)
    this.#onBytes = events.onBytes
    this.#onMark = events.onMark
  }

  push(chunk: Buffer): void {
    let rest = this.#held.byteLength === 0 ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = Buffer.alloc(0)
    for (;;) {
      const begin = rest.indexOf(BEGIN)
      if (begin < 0) break
      this.#pass(rest.subarray(0, begin))
      rest = rest.subarray(begin)
      const step = this.#markAt(rest)
      if (step === null) {
        this.#held = Buffer.from(rest)
        return
      }
      rest = rest.subarray(step)
    }
    this.#pass(rest)
  }

  #pass(bytes: Buffer): void {
    if (bytes.byteLength > 0) this.#onBytes(bytes)
  }

  /** The number of processed bytes; null if more bytes are needed. */
  #markAt(rest: Buffer): number | null {
    const lead = rest.subarray(0, this.#lead.byteLength)
    if (!lead.equals(this.#lead.subarray(0, lead.byteLength))) return this.#plain(rest)
    if (lead.byteLength < this.#lead.byteLength) return null
    const end = rest.indexOf(END)
    if (end < 0) return rest.byteLength < LONGEST_MARK ? null : this.#plain(rest)
    const mark = markFrom(rest.subarray(this.#lead.byteLength, end).toString('utf8'))
    if (mark === null) return this.#plain(rest)
    this.#onMark(mark)
    return end + 1
  }

  #plain(rest: Buffer): number {
    this.#pass(rest.subarray(0, 1))
    return 1
  }
}

function markFrom(text: string): Mark | null {
  if (text === 'S') return { kind: 'started' }
  const [, ended, saved] = /^E(\d{1,3}),([01])$/.exec(text) ?? []
  if (ended !== undefined) return { kind: 'shell-ended', status: Number(ended), isSaved: saved === '0' }
  if (!text.startsWith('P')) return null
  const [status, pid, user, host, interpreter, cwd, ...more] = text.slice(1).split('\x1d')
  if (cwd === undefined || user === undefined || host === undefined || interpreter === undefined || more.length > 0)
    return null
  if (!/^\d{1,3}$/.test(status ?? '') || !/^\d{1,10}$/.test(pid ?? '')) return null
  const folder = cwd.replace(/%(25|1D|1E|1F)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return {
    kind: 'prompt',
    prompt: { status: Number(status), pid: Number(pid), user, host, interpreter, cwd: folder },
  }
}
