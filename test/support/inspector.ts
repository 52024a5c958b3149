// Uses the inspector of a runtime that was started with `--inspect`: measures the memory in use after a garbage collection.

import { setTimeout as sleep } from 'node:timers/promises'

/** In bytes: JavaScript's own heap, and the objects of the runtime that belong to it, such as requests and their headers. */
export type Heap = { readonly script: number; readonly runtime: number }

type Answer = { id?: number; result?: unknown; error?: { message: string } }
type Usage = { usedSize: number; embedderHeapUsedSize: number }

const WORKER = 'core:user:bellwether'
const POKE_EVERY_MS = 50

export class Inspector {
  readonly #socket: WebSocket
  readonly #url: string
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>()
  #last = 0

  private constructor(socket: WebSocket, url: string) {
    this.#socket = socket
    this.#url = url
    socket.addEventListener('message', ({ data }) => this.#answered(JSON.parse(String(data)) as Answer))
  }

  /** `url`: the address of the service; it must get requests during the measurement. */
  static async open(port: number, url: string): Promise<Inspector> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/${WORKER}`)
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', () => reject(new Error(`no inspector on port ${port}`)))
    })
    const inspector = new Inspector(socket, url)
    await inspector.#call('HeapProfiler.enable')
    return inspector
  }

  /** The memory in use after a garbage collection. */
  async heap(): Promise<Heap> {
    // The second collection frees what the finalizers of the first one released.
    for (let round = 0; round < 2; round++) await this.#call('HeapProfiler.collectGarbage')
    const { usedSize, embedderHeapUsedSize } = (await this.#call('Runtime.getHeapUsage')) as Usage
    return { script: usedSize, runtime: embedderHeapUsedSize }
  }

  close(): void {
    this.#socket.close()
  }

  /** The runtime only reads messages of the inspector while it handles requests. */
  async #call(method: string): Promise<unknown> {
    const id = ++this.#last
    const asked = Promise.withResolvers<unknown>()
    this.#asked.set(id, asked)
    this.#socket.send(JSON.stringify({ id, method, params: {} }))
    let isOver = false
    const over = asked.promise.finally(() => {
      isOver = true
    })
    const poke = async () => {
      while (!isOver) {
        await (await fetch(`${this.#url}/alive`)).text()
        await sleep(POKE_EVERY_MS)
      }
    }
    const [answer] = await Promise.all([over, poke()])
    return answer
  }

  #answered({ id, result, error }: Answer): void {
    const asked = this.#asked.get(id ?? 0)
    if (error === undefined) asked?.resolve(result)
    else asked?.reject(new Error(error.message))
  }
}
