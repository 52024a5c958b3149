// The container of a conversation, where the service was deployed with them.

import type { Need } from '../../../runner-container/container-key.ts'

type ContainerStub = { need(need: Need, serviceUrl: string): Promise<void> }
type Namespace = { getByName(name: string): ContainerStub }

/** How long a container may take from its start until its runner has come. */
export const CONTAINER_WITHIN_MS = 90_000
/** The label of a container's runner. */
export const CONTAINER_LABEL = 'container'

/** Starts the container or keeps it awake; null where there are none. */
export function ownContainer(env: object, whose: Need): (() => Promise<void>) | null {
  const namespace = 'RUNNER_CONTAINER' in env ? env.RUNNER_CONTAINER : null
  const url = 'RUNNER_SERVICE_URL' in env ? env.RUNNER_SERVICE_URL : null
  if (!isNamespace(namespace) || typeof url !== 'string' || !URL.canParse(url)) return null
  const { owner, id } = whose
  return () => namespace.getByName(JSON.stringify([owner, id])).need({ owner, id }, url)
}

function isNamespace(binding: unknown): binding is Namespace {
  return typeof binding === 'object' && binding !== null && 'getByName' in binding
}
