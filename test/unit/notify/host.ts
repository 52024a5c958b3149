import { inject } from 'vitest'
import type { Fault, Received } from '../../support/notify-host.ts'

export type NotifyLane = {
  /** Where the services of this lane begin. */
  readonly url: string
  fail(...faults: Fault[]): Promise<void>
  received(): Promise<Received[]>
  /** What was not as the service wants it. */
  refused(): Promise<string[]>
}

export function notifyLane(): NotifyLane {
  const url = `${inject('notifyHost')}/${crypto.randomUUID().slice(0, 12)}`
  const read = async <T>(what: string) => (await (await fetch(`${url}/${what}`)).json()) as T
  return {
    url,
    fail: async (...faults) => {
      await (await fetch(`${url}/faults`, { method: 'PUT', body: JSON.stringify(faults) })).json()
    },
    received: () => read('received'),
    refused: () => read('refused'),
  }
}
