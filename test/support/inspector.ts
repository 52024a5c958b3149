// The inspector of a runtime that was started with `--inspect`: how much memory is still in use once all garbage is collected.

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

  /** `url`: of the service, which is asked something while it is looked at. */
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

  /** What is left when all garbage is gone. */
  async heap(): Promise<Heap> {
    // The second round takes what the first one's finalizers let go.
    for (let round = 0; round < 2; round++) await this.#call('HeapProfiler.collectGarbage')
    const { usedSize, embedderHeapUsedSize } = (await this.#call('Runtime.getHeapUsage')) as Usage
    return { script: usedSize, runtime: embedderHeapUsedSize }
  }

  close(): void {
    this.#socket.close()
  }

  /** The runtime reads what its inspector is asked only when it has something to do. */
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
