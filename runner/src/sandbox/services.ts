// The services that the runner provides in one sandbox, on socket files: the network proxy, and credentials.

import type { HostAsk } from '../../../src/runners/wire.ts'
import { type AskCredential, CredentialSocket } from '../credentials.ts'
import { type Log, messageOf } from '../log.ts'
import { HostProxy } from '../network/proxy.ts'
import type { LaunchPlan } from './launch.ts'

export type ServicesDeps = {
  readonly id: string
  readonly plan: LaunchPlan
  readonly allow: readonly string[]
  readonly ask: AskCredential
  /** Whether the service permits a host that is not on the list. */
  readonly mayReach: (wanted: HostAsk) => Promise<boolean>
  readonly log: Log
}

export class SandboxServices {
  readonly #credentials: CredentialSocket
  #proxy: HostProxy | null = null
  #isClosed = false

  constructor(runFolder: string, { id, plan, allow, ask, mayReach, log }: ServicesDeps) {
    const logHere: Log = (event, fields) => log(event, { conversation: id, ...fields })
    this.#credentials = new CredentialSocket(runFolder, { ask, log: logHere })
    if (plan.isolation === 'none' || plan.network !== 'list') return
    HostProxy.listen(runFolder, 'proxy.sock', { allow, mayReach, log: logHere }).then(
      (proxy) => {
        this.#proxy = proxy
        if (this.#isClosed) proxy.close()
      },
      (error) => logHere('network.failed', { message: messageOf(error) }),
    )
  }

  close(): void {
    this.#isClosed = true
    this.#credentials.close()
    this.#proxy?.close()
  }
}
