// The entry of the environment `containers`: the service, and the object that starts a container for a conversation.

export { RunnerContainer } from '../durable-objects/runner-container/runner-container.ts'
export * from './index.ts'
export { default } from './index.ts'
