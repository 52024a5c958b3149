// The container of a conversation, if the service was deployed with containers.

import type { Need } from '../../../runner-container/container-key.ts'

type ContainerStub = { need(need: Need, serviceUrl: string): Promise<void> }
type Namespace = { getByName(name: string): ContainerStub }

/** How long it may take from the start of a container until its runner has connected. */
export const CONTAINER_WITHIN_MS = 90_000
/** The label of a container's runner. */
export const CONTAINER_LABEL = 'container'

/** Starts the container or keeps it awake; null in a deployment without containers. */
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
